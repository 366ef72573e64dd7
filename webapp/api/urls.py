"""Addresses of the pages about the API. Its own are in ``webapp.api.v1``."""

from django.urls import path

from webapp.api import pages

app_name = "api"
urlpatterns = [
    path("account/tokens/", pages.listing, name="tokens"),
    path("account/tokens/<int:pk>/revoke/", pages.revoke, name="revoke"),
    path("help/api/", pages.help_page, name="help"),
]
