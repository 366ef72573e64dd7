"""What of a search's verdicts stays where somebody else leads both sides, in a sentence or two."""

from __future__ import annotations

from collections.abc import Sequence

from webapp.changes import meant
from webapp.changes.reading import Lineup, Replayed
from webapp.lib.words import lower_first, number

CONFIRMED, UNDER = "confirmed", "under the line"


def head(replayed: Replayed) -> str:
    """ "7 of the 9 confirmed lineups stay over the line under Ada, 1 falls under it, 1 cannot be told." While it is
    played, how many have both verdicts."""
    if replayed.line is None:
        return f"Under {replayed.under} the bars show what differs. No line is drawn, so nothing is called unfair."
    if not replayed.job.terminal:
        counted = [each for each in replayed.lineups if each.counts]
        judged = [each for each in counted if each.decided and each.found_before]
        return f"So far {number(len(judged))} of {number(len(counted))} lineups have a verdict under both."
    asked = _confirmed(replayed)
    if not asked:
        return f"Fresh battles under {_first(replayed)} confirm none of these lineups, so there is nothing to keep."
    return f"{_stay(replayed, asked)}{_others(replayed, asked)}."


def rest(replayed: Replayed) -> list[str]:
    """What else there is to say: what is only over the line under the agent, what fresh battles under the script leave
    open, and what was not played."""
    if not replayed.job.terminal or replayed.line is None:
        return []
    counted = [each for each in replayed.lineups if each.counts]
    so = [each for each in replayed.lineups if each.finding == meant.FINDING]
    new = [each for each in counted if each.found_before != CONFIRMED and each.finding == CONFIRMED]
    open_ = [each for each in counted if each.found_before != CONFIRMED and each.finding != CONFIRMED]
    failed = [each for each in counted if each.failed]
    by = _first(replayed)
    said = [
        f"{_count(new, 'lineup')} that fresh battles under {by} do not confirm {_is(new)} {replayed.words.over} under "
        f"{replayed.under}." if new else "",
        f"{_count(open_, 'more lineup' if _confirmed(replayed) or new else 'lineup')} {_is(open_)} confirmed under "
        "neither." if open_ else "",
        f"{_count(so, 'lineup')} {_is(so)} meant to be so, and not counted." if so else "",
        f"{_count(failed, 'lineup')} could not be played to the end." if failed else "",
    ]  # fmt: skip
    return [each for each in said if each]


def _stay(replayed: Replayed, asked: Sequence[Lineup]) -> str:
    stay = [each for each in asked if each.finding == CONFIRMED]
    over, under = replayed.words.over, replayed.under
    if len(asked) == 1:
        return f"The one confirmed lineup {'stays' if stay else 'does not surely stay'} {over} under {under}"
    if len(stay) == len(asked):
        return f"All {number(len(asked))} confirmed lineups stay {over} under {under}"
    verb = "stays" if len(stay) == 1 else "stay"
    return f"{number(len(stay))} of the {number(len(asked))} confirmed lineups {verb} {over} under {under}"


def _others(replayed: Replayed, asked: Sequence[Lineup]) -> str:
    """ ", 1 falls under it, 1 is too weak there to count, 1 is over the line but may be weak, 1 cannot be told": those
    that do not stay."""
    falls = [each for each in asked if each.finding == "refuted"]
    weak = [each for each in asked if each.finding == "weak"]
    open_ = [each for each in asked if each.finding not in (CONFIRMED, "refuted", "weak")]
    over = [each for each in open_ if each.over and replayed.words.strong.endswith("and strong")]
    open_ = [each for each in open_ if each not in over]
    refuted = lower_first(replayed.words.refuted)
    falls_to = f"{'falls' if len(falls) == 1 else 'fall'} under it" if refuted == UNDER else f"{_is(falls)} {refuted}"
    parts = [
        f"{number(len(falls))} {falls_to}" if falls else "",
        f"{number(len(weak))} {_is(weak)} too weak there to count" if weak else "",
        f"{number(len(over))} {_is(over)} {replayed.words.over} but may be weak" if over else "",
        f"{number(len(open_))} cannot be told" if open_ else "",
    ]
    return "".join(f", {each}" for each in parts if each)


def _confirmed(replayed: Replayed) -> list[Lineup]:
    return [each for each in replayed.lineups if each.found_before == CONFIRMED]


def _first(replayed: Replayed) -> str:
    return replayed.first or "the script"


def _is(lineups: Sequence[Lineup]) -> str:
    return "is" if len(lineups) == 1 else "are"


def _count(lineups: Sequence[Lineup], noun: str) -> str:
    return f"{number(len(lineups))} {noun}{'' if len(lineups) == 1 else 's'}"
