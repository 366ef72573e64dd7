"""Addresses of populations that train against themselves."""

from django.urls import path

from webapp.self_play import views

app_name = "self-play"

_MEMBER = "p/<slug:slug>/jobs/<int:pk>/members/<int:version>/"

urlpatterns = [
    path(f"{_MEMBER}watch/", views.watch, name="watch"),
    path(f"{_MEMBER}keep/", views.keep, name="keep"),
]
