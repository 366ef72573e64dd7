"""Addresses of trainings: composing one, and what is taken away from it. Its live page is a job's."""

from django.urls import path

from webapp.training import composing, evolve_views, views

app_name = "training"

_JOB = "p/<slug:slug>/jobs/<int:pk>/"

urlpatterns = [
    path("p/<slug:slug>/train/", composing.new, name="new"),
    path("p/<slug:slug>/train/preview/", composing.preview, name="preview"),
    path("p/<slug:slug>/train/forget/", composing.forget, name="forget"),
    path("p/<slug:slug>/train/compare/", views.compare, name="compare"),
    path("p/<slug:slug>/train/settings/", evolve_views.new, name="evolve"),
    path("p/<slug:slug>/train/settings/preview/", evolve_views.preview, name="evolve-preview"),
    path("p/<slug:slug>/train/settings/forget/", evolve_views.forget, name="evolve-forget"),
    path(f"{_JOB}players.json", evolve_views.players, name="players"),
    path(f"{_JOB}train-again/", composing.clone, name="clone"),
    path(f"{_JOB}policy.zip", views.policy, name="policy"),
    path(f"{_JOB}policy.onnx", views.onnx, name="onnx"),
    path(f"{_JOB}members.zip", views.members, name="members"),
    path(f"{_JOB}curve.csv", views.curve, name="curve"),
]
