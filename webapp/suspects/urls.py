"""Addresses of a search's suspects."""

from django.urls import path

from webapp.suspects import views

app_name = "suspects"

_PAGE = "p/<slug:slug>/jobs/<int:pk>/suspects/"

urlpatterns = [
    path(_PAGE, views.page, name="page"),
    path(f"{_PAGE}decide/", views.decide, name="decide"),
    path(f"{_PAGE}measure/", views.measure, name="measure"),
    path(f"{_PAGE}test/", views.test, name="test"),
    path(f"{_PAGE}battle/", views.battle, name="battle"),
]
