"""Which page answers which address."""

from django.urls import include, path

from webapp.api.metrics import metrics
from webapp.api.v1 import v1
from webapp.lib.health import health

urlpatterns = [
    path("", include("webapp.projects.urls")),
    path("", include("webapp.accounts.urls")),
    path("", include("webapp.games.urls")),
    path("", include("webapp.balance.urls")),
    path("", include("webapp.studies.urls")),
    path("", include("webapp.training.urls")),
    path("", include("webapp.agents.urls")),
    path("", include("webapp.styles.urls")),
    path("", include("webapp.hunts.urls")),
    path("", include("webapp.self_play.urls")),
    path("", include("webapp.starts.urls")),
    path("", include("webapp.arena.urls")),
    path("", include("webapp.suspects.urls")),
    path("", include("webapp.gates.urls")),
    path("", include("webapp.reports.urls")),
    path("", include("webapp.patches.urls")),
    path("", include("webapp.changes.urls")),
    path("", include("webapp.api.urls")),
    path("api/v1/", v1.urls),
    path("health/", health, name="health"),
    path("metrics", metrics, name="metrics"),
]
handler400, handler403 = "webapp.lib.refusals.unreadable", "webapp.lib.refusals.forbidden"
handler404, handler500 = "webapp.lib.refusals.missing", "webapp.lib.refusals.broken"
