"""Addresses on which changes are tried."""

from django.urls import path

from webapp.changes import under, views

app_name = "changes"

_JOB = "p/<slug:slug>/jobs/<int:pk>/"

urlpatterns = [
    path(f"{_JOB}change/", views.page, name="page"),
    path(f"{_JOB}under/", under.page, name="under"),
    path(f"{_JOB}trial/", views.trial, name="trial"),
    path(f"{_JOB}save/", views.save, name="save"),
    path(f"{_JOB}search-again/", views.search, name="search"),
]
