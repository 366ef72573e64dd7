"""Addresses of the style map of a job."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
