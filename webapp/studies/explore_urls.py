"""Addresses of the front explorer; ``webapp.studies.urls`` takes them in."""

from django.urls import path

from webapp.studies import explore_views as views

_JOB = "p/<slug:slug>/jobs/<int:pk>/"

urlpatterns = [
    path(f"{_JOB}explore/", views.explore, name="explore"),
    path(f"{_JOB}explore/data/<slug:state>/<slug:part>/", views.data, name="explore-data"),
    path(f"{_JOB}explore/state/", views.state, name="explore-state"),
    path(f"{_JOB}explore/shortlist/", views.shortlist, name="explore-shortlist"),
    path(f"{_JOB}explore/line/", views.keep_line, name="explore-line"),
    path(f"{_JOB}explore/re-check/", views.recheck, name="explore-recheck"),
    path(f"{_JOB}export.csv", views.export, {"kind": "csv"}, name="export-csv"),
    path(f"{_JOB}export.xlsx", views.export, {"kind": "xlsx"}, name="export-xlsx"),
    path(f"{_JOB}export.html", views.export, {"kind": "html"}, name="export-html"),
]
