"""Addresses of lineup rules and objectives."""

from django.urls import path

from webapp.balance.views import lineups, objectives

app_name = "balance"
urlpatterns = [
    path("p/<slug:slug>/lineups/", lineups.lineups, name="lineups"),
    path("p/<slug:slug>/lineups/new/", lineups.edit, name="lineup-new"),
    path("p/<slug:slug>/lineups/check/", lineups.check, name="lineup-check"),
    path("p/<slug:slug>/lineups/<int:pk>/", lineups.edit, name="lineup-edit"),
    path("p/<slug:slug>/objectives/", objectives.objectives, name="objectives"),
    path("p/<slug:slug>/objectives/new/", objectives.edit, name="objective-new"),
    path("p/<slug:slug>/objectives/sample/", objectives.sample, name="objective-sample"),
    path("p/<slug:slug>/objectives/<int:pk>/", objectives.edit, name="objective-edit"),
]
