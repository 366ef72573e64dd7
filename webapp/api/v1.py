"""The API's first version. Everything a token opens is here; ``/api/v1/openapi.json`` describes it to programs."""

from __future__ import annotations

from ninja import NinjaAPI
from ninja.operation import Operation

from webapp.api import errors, gates, jobs, projects, reports, results
from webapp.api.auth import Bearer


class Api(NinjaAPI):
    """Names its operations by what they do."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """Such as jobs_stop."""
        module = operation.view_func.__module__.rpartition(".")[2]
        return f"{module}_{operation.view_func.__name__}"


v1 = Api(
    title="Equipoise API",
    version="1",
    description="Run studies from scripts. Errors have one shape: message, and problems with their places.",
    urls_namespace="api-v1",
    auth=Bearer(),
    docs_url=None,
    openapi_url=None,  # webapp.api.description keeps it
)
errors.handle(v1)
v1.add_router("", projects.router)
v1.add_router("", jobs.router)
v1.add_router("", gates.router)
v1.add_router("", results.router)
v1.add_router("", reports.router)
