"""What the form says beside its start button while what is paid for is not tried on sample episodes."""

from __future__ import annotations

from webapp.studies.journal import TIME_IS_UP
from webapp.studies.models import Job, Status
from webapp.styles import sample_episodes
from webapp.styles.forms import StyleForm

NOT_YET = "What is paid for has not been checked on sample episodes yet"
RANGES = "some settings of the game are ranges. The job checks it before it trains anybody"
PLAYING = "they are being played. If you start now, the job waits for them"
TOO_LONG = (
    "playing them took too long, perhaps because other jobs keep the processors busy. Try again, or start: the job "
    "plays them once more, and checks what is paid for itself if that takes too long again"
)
LOST = "they are not in the store any more. If you start, the job plays them anew"


def words(form: StyleForm, played: Job | None) -> str:
    """Why it is not checked, and what a start does about that; empty where it is, and where nobody can say which game
    is meant. ``played``: the job that plays sample episodes."""
    if form.samples is not None or not form.game_name:
        return ""
    if sample_episodes.of_game(form.game_as_typed) is None:
        return f"{NOT_YET}, because {RANGES}."
    return f"{NOT_YET}: {_why(played)}." if played is not None else ""


def _why(played: Job) -> str:
    """Why there are no sample episodes."""
    if played.active:
        return PLAYING
    if played.message == TIME_IS_UP:
        return TOO_LONG
    return LOST if played.status == Status.FINISHED else f"they could not be played. {played.message}".rstrip(" .")
