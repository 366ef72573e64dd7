"""Addresses of game data and simulators."""

from django.urls import path

from webapp.games.views import code_right, data, imports, simulators, uploads, versions

app_name = "games"
urlpatterns = [
    path("p/<slug:slug>/data/", data.data, name="data"),
    path("p/<slug:slug>/data/choose/", data.choose, name="choose"),
    path("p/<slug:slug>/data/row/", data.row, name="row"),
    path("p/<slug:slug>/data/edit/", data.edit, name="edit"),
    path("p/<slug:slug>/data/import/", uploads.start, name="import"),
    path("p/<slug:slug>/data/import/progress/", uploads.progress, name="import-progress"),
    path("p/<slug:slug>/data/import/<int:pk>/", imports.sheet, name="sheet"),
    path("p/<slug:slug>/data/versions/<int:number>/", versions.version, name="version"),
    path("p/<slug:slug>/data/versions/<int:number>/restore/", versions.restore, name="restore"),
    path("p/<slug:slug>/data/adopt/", versions.adopt, name="adopt"),
    path("p/<slug:slug>/data/export/", versions.export, name="export"),
    path("admin-tools/people/<int:pk>/simulators/", code_right.code_right, name="code-right"),
    path("admin-tools/simulators/", simulators.listing, name="simulators"),
    path("admin-tools/simulators/new/", simulators.register, name="simulator-new"),
    path("admin-tools/simulators/<int:pk>/", simulators.simulator, name="simulator"),
    path("admin-tools/simulators/<int:pk>/change/", simulators.change, name="simulator-change"),
    path("admin-tools/simulators/<int:pk>/switch/", simulators.switch, name="simulator-switch"),
    path("admin-tools/simulators/<int:pk>/test/", simulators.test, name="simulator-test"),
    path("admin-tools/simulators/<int:pk>/stop/", simulators.stop, name="simulator-stop"),
]
