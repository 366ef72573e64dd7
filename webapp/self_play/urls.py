"""Addresses of populations that train against themselves."""

from django.urls import path

from webapp.self_play import views

app_name = "self-play"

urlpatterns = [path("p/<slug:slug>/jobs/<int:pk>/members/<int:version>/watch/", views.watch, name="watch")]
