"""Addresses of gates."""

from django.urls import path

from webapp.gates import views

app_name = "gates"

urlpatterns = [
    path("p/<slug:slug>/gates/", views.history, name="history"),
    path("p/<slug:slug>/jobs/<int:pk>/gate.xml", views.junit, name="junit"),
]
