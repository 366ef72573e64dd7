"""Addresses of what is done with a change that was found."""

from django.urls import path

from webapp.patches import views

app_name = "patches"

urlpatterns = [path("p/<slug:slug>/jobs/<int:pk>/patches/save/", views.save, name="save")]
