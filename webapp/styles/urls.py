"""Addresses of searches for styles of play: composing one, its control, and its style map. Its live page is a job's."""

from django.urls import path

from webapp.styles import map_urls, views

app_name = "styles"

urlpatterns = [
    path("p/<slug:slug>/styles/", views.new, name="new"),
    path("p/<slug:slug>/styles/preview/", views.preview, name="preview"),
    path("p/<slug:slug>/styles/forget/", views.forget, name="forget"),
    path("p/<slug:slug>/jobs/<int:pk>/control/", views.begin_control, name="control"),
    *map_urls.urlpatterns,
]
