"""Addresses of courses. Their live page is a job's."""

from django.urls import path

from webapp.arena import views

app_name = "arena"

urlpatterns = [
    path("p/<slug:slug>/jobs/<int:pk>/matches/<int:place>/watch/", views.watch, name="watch"),
    path("p/<slug:slug>/jobs/<int:pk>/lessons/watch/", views.watch_past, name="watch-past"),
]
