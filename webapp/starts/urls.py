"""Addresses of easier starts: trainings side by side. The page of one is a job's."""

from django.urls import path

from webapp.starts import views

app_name = "starts"

urlpatterns = [path("p/<slug:slug>/starts/compare/", views.compare, name="compare")]
