"""A person who looks at everything of a site and lets its paused jobs go on: in a process of its own, for the settings
name another database. Prints what was seen as JSON."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import deque
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
django.setup(set_prefix=False)

from django.test import Client  # noqa: E402
from django.urls import reverse  # noqa: E402

from webapp.accounts.models import User  # noqa: E402
from webapp.api import tokens  # noqa: E402
from webapp.studies.models import Job, JobEvent, Status  # noqa: E402
from workers import runner  # noqa: E402

LINK = re.compile(r'(?:href|data-(?:front|around|course|grid|rounds))="(/[^"#?]*)')


def walk(client: Client) -> dict[str, int]:
    """The status of every address that a link leads to, from Home on."""
    seen: dict[str, int] = {}
    ahead = deque(["/"])
    while ahead:
        path = ahead.popleft()
        if path in seen or path.startswith("/static/"):
            continue
        answer = client.get(path, follow=True)
        seen[path] = answer.status_code
        if answer["Content-Type"].startswith("text/html") and "export.html" not in path:
            ahead.extend(LINK.findall(answer.getvalue().decode()))
    return seen


def explore(client: Client, job: Job) -> dict[str, Any]:
    """What the explorer of a search shows, and the status of each of its files."""
    state = client.get(reverse("studies:explore-state", args=[job.project.slug, job.pk])).json()
    files = {part: client.get(path).status_code for part, path in state["data"].items() if part != "key"}
    for kind in ("csv", "xlsx", "html"):
        files[kind] = client.get(reverse(f"studies:export-{kind}", args=[job.project.slug, job.pk])).status_code
    return {"files": files, "listed": state.get("listed")}


def ask_api(job: Job) -> dict[str, int]:
    """The status of what the API says of a job."""
    token = tokens.make(User.objects.get(username="designer"), "a build", None, 30)[1]
    client = Client(
        SERVER_NAME="localhost", headers={"Authorization": f"Bearer {token}"}, raise_request_exception=False
    )
    names = ["job", "events", "rounds"]
    names += ["results"] if job.kind != "train" else ["policy", "onnx"] if job.status == Status.FINISHED else []
    paths = [reverse(f"api-v1:{name}", args=[job.project.slug, job.pk]) for name in names]
    return {path: client.get(path).status_code for path in paths}


def go_on(client: Client, job: Job) -> dict[str, Any]:
    """How a paused job ends once its page's Resume was pressed, and what its page says then."""
    client.post(reverse("studies:resume", args=[job.project.slug, job.pk]))
    runner.run(job.pk)
    job.refresh_from_db()
    page = client.get(reverse("studies:job", args=[job.project.slug, job.pk])).content.decode()
    return {"status": job.status, "tick": job.tick, "message": job.message, "told": job.message in page}


def look() -> dict[str, Any]:
    """Everything at once."""
    client = Client(SERVER_NAME="localhost", raise_request_exception=False)
    client.force_login(User.objects.get(username="designer"))
    jobs = list(Job.objects.select_related("project").order_by("pk"))
    searches = [job for job in jobs if job.kind == "search"]
    return {
        "pages": walk(client),
        "explored": {job.pk: explore(client, job) for job in searches},
        "api": {path: status for job in jobs for path, status in ask_api(job).items()},
        "commands": list(JobEvent.objects.filter(body__has_key="command").values_list("body__command", flat=True)),
        "gone on": {job.pk: go_on(client, job) for job in jobs if job.status == Status.PAUSED},
    }


if __name__ == "__main__":
    json.dump(look(), sys.stdout)
