"""Addresses of hunts for bugs."""

from django.urls import path

from webapp.hunts import views

app_name = "hunts"

urlpatterns = [
    path("p/<slug:slug>/jobs/<int:pk>/bugs/<int:number>.json", views.bug, name="bug"),
    path("p/<slug:slug>/jobs/<int:pk>/bugs/<int:number>/watch/", views.watch, name="watch"),
]
