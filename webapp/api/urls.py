"""Addresses of the pages about the API, and of its description. Its own are in ``webapp.api.v1``."""

from django.urls import path

from webapp.api import description, pages

app_name = "api"
urlpatterns = [
    path("account/tokens/", pages.listing, name="tokens"),
    path("account/tokens/<int:pk>/revoke/", pages.revoke, name="revoke"),
    path("api/v1/openapi.json", description.for_programs, name="description"),
    path("help/api/", pages.help_page, name="help"),
]
