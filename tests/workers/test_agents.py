"""Agents with the real engine: one is trained, kept, measured, taken home and watched."""

from __future__ import annotations

import io
import zipfile

from django.test import Client
from django.urls import reverse

from tests.workers.test_trainings import config, fresh, submitted
from webapp.agents.captions import Figures
from webapp.agents.models import Agent
from webapp.projects.models import Membership, Project, Role
from webapp.studies.models import Job, Status
from workers import runner


def test_an_agent_that_was_trained_is_kept_measured_taken_home_and_watched(project: Project, redis_server: str) -> None:
    training = submitted(project, config(steps=4 * 512, evaluate_every=0))
    runner.run(training.pk)
    assert fresh(training).status == Status.FINISHED, fresh(training).message
    user = project.members.get()
    Membership.objects.filter(project=project, user=user).update(role=Role.DESIGNER)
    browser = Client()
    browser.force_login(user)
    slug = project.slug
    browser.post(reverse("agents:keep", args=[slug, training.pk]), {"of": "", "name": "Ada", "chooses": "chance"})
    agent = Agent.objects.get()
    assert agent.measuring is not None
    runner.run(agent.measuring.pk)
    agent = Agent.objects.get()
    assert agent.measured is not None, Job.objects.get(kind="measure").message
    figures = Figures.of(agent.measured)
    assert figures is not None
    assert figures.caption.startswith("Moves ")
    answer = browser.get(reverse("agents:take-home", args=[slug, agent.pk]))
    with zipfile.ZipFile(io.BytesIO(answer.content)) as taken:
        assert {"agent.onnx", "policy.json", "policy.safetensors", "vectors.npz", "card.md"} <= set(taken.namelist())
        assert "An agent for Pong" in taken.read("card.md").decode()
    wish = {"agents": agent.pk, "opponent": "script:pong-follower", "seed": "7"}
    browser.post(reverse("agents:watch", args=[slug]), wish)
    recording = Job.objects.get(config__kind="record")
    runner.run(recording.pk)
    page = browser.get(reverse("agents:battles", args=[slug, recording.pk])).content.decode()
    assert "against Follows the ball, in" in page
    told = browser.get(reverse("agents:battles-data", args=[slug, recording.pk])).json()
    assert told["drawing"] == "pong"
    assert len(told["battles"][0]) > 10
