"""A process with a site's settings that submits jobs as its pages do: ``python -m tests.workers.submitter`` reads a
study from each line that comes, and writes its job's number. One serves all tests of a file, because Django takes a
processor-second to start; it is none of the site's parts, so it outlives the supervisor."""

from __future__ import annotations

import json
import subprocess
import sys

import django

from deploy.up import processes
from deploy.up.layout import ROOT
from deploy.up.options import read_options
from deploy.up.parts import environment
from engine.config import SearchConfig
from engine.studies import load
from tests.workers.whole_site import WholeSite


class Submitter:
    """The process, as seen by the tests."""

    def __init__(self, site: WholeSite) -> None:
        variables = environment(site.layout, read_options(site.environment), site.run)
        del variables[processes.MARK]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.workers.submitter"], cwd=ROOT, env=variables, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def submit(self, config: SearchConfig) -> int:
        """Submit a study; gives its job's number."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{config.model_dump_json()}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def end(self) -> None:
        """It ends when nothing more can come."""
        self.process.communicate()
        assert self.process.returncode == 0


def main() -> None:
    """Submit what comes. The game may be a program, which everybody may then play."""
    django.setup()
    from webapp.accounts.models import User
    from webapp.games.commands import is_program
    from webapp.games.models import Simulator
    from webapp.projects.models import Project
    from webapp.studies import actions

    project, _ = Project.objects.get_or_create(slug="kills", defaults={"name": "Kills"})
    user, _ = User.objects.get_or_create(username="kills", defaults={"email": "kills@studio.example"})
    for line in sys.stdin:
        config = load(json.loads(line))
        if is_program(config.game.simulator):
            made = {"name": "Tug of war", "kind": Simulator.Kind.PYTHON, "everybody": True}
            Simulator.objects.get_or_create(reference=config.game.simulator, defaults=made)
        print(actions.submit(project, user, config, title="Which teams are unfair?").pk, flush=True)


if __name__ == "__main__":
    main()
