"""Addresses of jobs, their event stream and the front explorer."""

from django.urls import include, path

from webapp.studies import asking, composing, pictures, stream, views
from webapp.studies.compare import views as compare

app_name = "studies"

_JOB = "p/<slug:slug>/jobs/<int:pk>/"

urlpatterns = [
    path("events/", stream.events, name="events"),
    path("p/<slug:slug>/jobs/", views.jobs, name="jobs"),
    path("p/<slug:slug>/jobs/new/", composing.new, name="new"),
    path("p/<slug:slug>/jobs/new/preview/", composing.preview, name="preview"),
    path("p/<slug:slug>/jobs/compare/", compare.page, name="compare"),
    path("p/<slug:slug>/jobs/compare/csv/", compare.export, name="compare-csv"),
    path("p/<slug:slug>/jobs/new/forget/", composing.forget, name="forget"),
    path("p/<slug:slug>/jobs/new/data/<int:number>/", composing.ask_again, name="ask-again"),
    path("p/<slug:slug>/jobs/new/<slug:kind>/", asking.ask, name="ask"),
    path("p/<slug:slug>/jobs/new/<slug:kind>/before/", asking.before, name="before"),
    path(_JOB, views.job, name="job"),
    path(f"{_JOB}results.csv", views.results, name="results"),
    path(f"{_JOB}results.xlsx", views.book, name="book"),
    path(f"{_JOB}stop/", views.stop, name="stop"),
    path(f"{_JOB}pause/", views.pause, name="pause"),
    path(f"{_JOB}resume/", views.resume, name="resume"),
    path(f"{_JOB}again/", asking.again, name="again"),
    path(f"{_JOB}clone/", composing.clone, name="clone"),
    path(f"{_JOB}front/", pictures.front, name="front"),
    path(f"{_JOB}around/", pictures.around, name="around"),
    path(f"{_JOB}course/", pictures.course, name="course"),
    path(f"{_JOB}grid/", pictures.grid, name="grid"),
    path(f"{_JOB}lineage/", pictures.lineage, name="lineage"),
    path(f"{_JOB}rounds/", pictures.rounds, name="rounds"),
    path(f"{_JOB}checked/", views.checked, name="checked"),
    path("", include("webapp.studies.explore_urls")),
]
