"""Addresses of the style map of a job."""

from django.urls import path

from webapp.styles import map_views

_MAP = "p/<slug:slug>/jobs/<int:pk>/map/"

urlpatterns = [
    path(_MAP, map_views.found, name="map"),
    path(f"{_MAP}watch/", map_views.watch, name="map-watch"),
    path(f"{_MAP}<int:agent>/", map_views.card, name="map-agent"),
    path(f"{_MAP}<int:agent>/difficulties/", map_views.difficulties, name="map-difficulties"),
    path(f"{_MAP}<int:agent>/keep/", map_views.keep, name="map-keep"),
    path("p/<slug:slug>/agents/<int:pk>/breed/", map_views.breed, name="breed"),
]
