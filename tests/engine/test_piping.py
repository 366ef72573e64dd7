"""Commands whose reader leaves early, as with ``| head``, or whose output goes to a full disk."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.piping import NOBODY_READS, NOT_WRITTEN, until_nobody_reads

ROOT = Path(__file__).parents[2]


STARTED_BY_PROGRAMS = {
    "deploy/up/prepare.py", "deploy/up/ray_owner.py", "deploy/up/web.py", "engine/rl/check_agent.py",
    "engine/simulators/reaper.py", "webapp/games/reader.py",
    *(f"engine/bench/peers/{name}.py" for name in (
        "plain_loop", "rllib_navigation", "rllib_pbt", "rllib_ppo", "sample_factory_appo", "sample_factory_covering",
        "sample_factory_train", "sb3_ppo", "sb3_twin",
    )),
}  # fmt: skip
"""What nobody starts at a terminal: other programs do, and read it to its end; and what goes home with an agent, which
says one line and needs nothing of ours."""


def programs() -> Iterator[tuple[str, str]]:
    """Every file of the product that can be started, and how it begins."""
    folders = ("deploy", "engine", "webapp", "workers")
    for path in [ROOT / "manage.py", *(p for folder in folders for p in sorted((ROOT / folder).rglob("*.py")))]:
        _, found, entry = path.read_text().partition('\nif __name__ == "__main__":\n')
        if found:
            yield str(path.relative_to(ROOT)), entry


def test_every_program_that_people_start_ends_quietly_when_nobody_reads_on() -> None:
    found = dict(programs())
    assert {name for name, entry in found.items() if "until_nobody_reads" not in entry} == STARTED_BY_PROGRAMS


@pytest.mark.parametrize(
    "command",
    [
        ("-m", "engine", "check-simulator", "--battles=4", "builtin:herobattle"),
        ("-m", "engine.simulators.serve", "--help"),
        ("-m", "engine", "list", "no-such-folder"),
        ("-m", "engine", "--help"),
        ("-m", "engine.bench", "--help"),
        ("manage.py", "help"),
        ("manage.py", "diffsettings"),
        ("manage.py", "sqlmigrate", "games", "0001"),
    ],
    ids=" ".join,
)
def test_a_command_ends_without_a_word_when_nobody_reads_on(command: tuple[str, ...], tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    environment = {**os.environ, "EQUIPOISE_VAR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    environment.pop("PYTHONUNBUFFERED", None)  # with it, argparse notices before anybody else
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True, env=environment
    )
    os.close(writer)
    assert (done.stderr, done.returncode) == ("", NOBODY_READS)


@pytest.mark.parametrize(
    ("command", "unbuffered"),
    [
        (("-m", "engine", "check-simulator", "--battles=4", "builtin:herobattle"), ""),
        (("-m", "engine", "list", "no-such-folder"), "1"),
        (("-m", "engine", "--help"), ""),
        (("manage.py", "diffsettings"), ""),
    ],
)
def test_a_command_whose_output_cannot_be_written_says_so_in_one_sentence(
    command: tuple[str, ...], unbuffered: str
) -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "webapp.settings", "PYTHONUNBUFFERED": unbuffered}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, *command], cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, env=environment
        )
    assert (done.stderr, done.returncode) == (
        "The output cannot be written: No space left on device.\n", NOT_WRITTEN,
    )  # fmt: skip


def test_another_file_that_cannot_be_written_is_not_taken_for_the_output() -> None:
    def fill() -> int:
        with open("/dev/full", "w") as full:
            full.write("a checkpoint")
        return 0

    with pytest.raises(OSError, match="No space left"):
        until_nobody_reads(fill)


def test_a_broken_pipe_to_another_program_is_not_taken_for_a_reader_who_left(tmp_path: Path) -> None:
    script = (
        "from engine.piping import until_nobody_reads\n"
        "def main():\n    raise BrokenPipeError('a simulator')\n"
        "until_nobody_reads(main)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        _, said = child.communicate()
    assert "BrokenPipeError: a simulator" in said


def test_a_command_that_is_read_to_its_end_keeps_its_exit_code() -> None:
    assert until_nobody_reads(lambda: 2) == 2
