"""Addresses of reports. The last one is for anybody who has a link."""

from django.urls import path

from webapp.reports import compose, shared, views

app_name = "reports"

_COMPOSE = "p/<slug:slug>/jobs/<int:pk>/report/"
_REPORT = "p/<slug:slug>/reports/<int:pk>/"

urlpatterns = [
    path(_COMPOSE, compose.page, name="compose"),
    path(f"{_COMPOSE}preview/", compose.preview, name="preview"),
    path(f"{_COMPOSE}forget/", compose.forget, name="forget"),
    path("p/<slug:slug>/reports/", views.listing, name="list"),
    path(_REPORT, views.page, name="page"),
    path(f"{_REPORT}judge/", views.judge, name="judge"),
    path(f"{_REPORT}comment/", views.comment, name="comment"),
    path(f"{_REPORT}links/", views.share, name="share"),
    path(f"{_REPORT}links/<int:link>/take-back/", views.take_back, name="take-back"),
    path(f"{_REPORT}printing/", views.printing, name="printing"),
    path(f"{_REPORT}report.html", views.file, {"kind": "html"}, name="html"),
    path(f"{_REPORT}report.pdf", views.file, {"kind": "pdf"}, name="pdf"),
    path(f"{_REPORT}report.xlsx", views.file, {"kind": "xlsx"}, name="xlsx"),
    path("r/<str:text>/", shared.page, name="shared"),
]
