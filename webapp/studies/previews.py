"""What the New job page says about a form that is still being filled in: estimates, the sample, and what is wrong."""

from __future__ import annotations

from typing import Any

from engine.config import FURTHER, ObjectiveConfig, PastedBaselines
from engine.config.study import FEWEST_MEASURING
from engine.errors import StoreError
from engine.lineups.companion import share
from engine.lineups.schema import battles_of_lineup
from webapp.games.numbers import field_text
from webapp.lib.figures import level
from webapp.lib.words import number, percent, plural
from webapp.studies import commanders, companion, plans, random_lineups, throughput
from webapp.studies.forms import NewJobForm
from webapp.studies.line_origin import NEAREST, NEAREST_OF_ALL, PROPOSED, PROPOSED_OF_ALL, USUAL
from webapp.studies.methods import LINEUPS, ends_when
from webapp.studies.models import Job, Status
from webapp.studies.questions import verdict_words
from webapp.studies.random_lineups import RandomLineups
from webapp.studies.throughput import Throughput


def sample_of(job: Job | None, there_are: int | None = None) -> RandomLineups | None:
    """What the sample found, or has found so far; None before it has a lineup, or when nothing came of it.
    ``there_are``: how many lineups, where they were counted."""
    if job is None:
        return None
    try:
        return random_lineups.read(job, there_are)
    except StoreError:
        return None


def settle(form: NewJobForm, job: Job | None) -> RandomLineups | None:
    """Read the sample, and let it propose the line where nobody chose one: at its end, so that it stays one line. What
    is too slow for enough random lineups gets the question's usual line, where it has one."""
    found = sample_of(job, form.there_are)
    if job is None or not job.terminal or not form.proposes or form.cleaned_data["line"] is not None:
        return found
    enough = found is not None and found.count >= min(random_lineups.FEW, form.there_are or random_lineups.FEW)
    if found is not None and enough:
        values = found.values[form.main.name]
        if not random_lineups.flat(values):  # else no line parts them
            line = random_lineups.suggestion(values, form.main)
            form.propose(line, _proposed(found, form.main, line))
    elif form.fallback is not None:
        form.propose(form.fallback, USUAL)
    return found


def _proposed(found: RandomLineups, main: ObjectiveConfig, line: float) -> str:
    """Where a line that was proposed comes from: see ``line_origin``."""
    if random_lineups.typical(found.values[main.name], main, line):
        return PROPOSED_OF_ALL if found.whole else PROPOSED
    return NEAREST_OF_ALL if found.whole else NEAREST


def preview(form: NewJobForm, job: Job | None) -> dict[str, Any]:
    """The page's answer to a form. Errors by field name; everything else only when there is none."""
    if not form.is_valid() and "line" not in form.cleaned_data:
        return {"errors": errors(form)}
    if form.measured is None:
        return {"errors": errors(form)}
    found, pace = settle(form, job), throughput.known(job)
    return {
        "errors": errors(form),
        "counts": form.asked.counts,
        "measures": [{"name": o.name, "title": o.title} for o in form.measured.objectives],
        "objectives": [{"name": o.name, "title": o.title} for o in form.offered.objectives] if form.offered else [],
        "fill": _fill(form) if form.proposes else None,
        "over": verdict_words(form.asked.key, form.measured).over,
        "unit": form.main.unit,
        "direction": form.main.direction,
        "sample": _sample(form, job, found),
        "experiment": _experiment(form, pace),
        "efforts": _efforts(form, pace),
        "before": _before(form, job, pace),
    }


def errors(form: NewJobForm) -> dict[str, list[str]]:
    """What is wrong, by field; "" for the form as a whole."""
    return {("" if name == "__all__" else name): [str(e) for e in found] for name, found in form.errors.items()}


def _fill(form: NewJobForm) -> dict[str, Any] | None:
    """The measure and line to show where nobody chose one; None until there is a line to propose."""
    line = form.cleaned_data["line"]
    if line is None:
        return None
    return {"measure": form.cleaned_data["measure"], "line": field_text(line), "line_from": form.origin}


def _sample(form: NewJobForm, job: Job | None, found: RandomLineups | None) -> dict[str, Any]:
    if job is None:
        return {"state": "none", "text": ""}
    if found is None and job.active:
        waits = job.message or _waits(job)
        return {"state": "playing", "job": job.pk, "text": waits}
    if found is None:
        return {"state": "failed", "job": job.pk, "text": _why(job)}
    main, line = form.main, form.cleaned_data.get("line")
    return {
        "state": "playing" if job.active else "ready",
        "job": job.pk,
        "text": _played(job, found) + _led_by(form, job),
        "failed": f"{plural(found.failed, 'more lineup')} could not be played." if found.failed else "",
        "chart": {
            **random_lineups.histogram(found.values[main.name], main, line, found.ends[main.name]),
            "line": line,
            "cap": main.high if main.direction == "max" else main.low,
            "count": found.count,
            "whole": found.whole,
            "over": None if line is None else random_lineups.over(found.values[main.name], main, line),
            "direction": main.direction,
            "title": main.title,
            "unit": main.unit,
            "toward": main.toward,
        },
        "advice": _advice(found, main, line),
        "cap": random_lineups.at_the_cap(found, main),
        "strong": _strong(form, found),
    }


def _advice(found: RandomLineups, main: ObjectiveConfig, line: float | None) -> dict[str, Any]:
    """What the lineups say of the line, and where the one that they propose instead would come from."""
    advice = random_lineups.advice(found, main, line)
    better = advice["better"]
    return {**advice, "from": None if better is None else _proposed(found, main, better)}


def _waits(job: Job) -> str:
    """What a sample that has no lineup yet does, as far as it has told."""
    battles = int(job.counters.get("battles", 0))
    if job.status != Status.RUNNING:
        return "Random lineups of your game are played next, so you can see where the line falls."
    if not battles:
        return "Your game is being started, to play random lineups: they show where the line falls."
    return f"Playing random lineups of your game, to show where the line falls: {number(battles)} battles so far."


def _led_by(form: NewJobForm, job: Job) -> str:
    """Who led the battles that the line is proposed from, where an agent is to lead those of the search."""
    if form.leader is None:
        return ""
    return f". {commanders.name_in(job.config) or commanders.SCRIPT} led both sides in these battles"


def _played(job: Job, found: RandomLineups) -> str:
    """What the histogram is made of, in a sentence."""
    count, wanted = found.count + found.failed, int(job.config.get("count", 0))
    if job.active:
        return f"{number(count)} of {number(wanted)} random valid lineups so far; the picture grows"
    if job.status == Status.FAILED:
        return f"{plural(count, 'random valid lineup')}, then it ended: {job.message}"
    if count < wanted:
        return (
            f"{number(count)} of {plural(wanted, 'random lineup')} in the time there was; the machine is busy or "
            "battles are slow"
        )
    if found.whole:
        return f"We played all {number(count)} lineups that your rules leave, so you can see where the line falls"
    return f"We played {plural(found.count, 'random valid lineup')} of your game, so you can see where the line falls"


def _why(job: Job) -> str:
    """Why there is no sample to show."""
    failed = int(job.metrics.get("failed", 0))
    if failed:
        text = f"None of the {number(failed)} random lineups gave a number that can be measured."
        incident = job.events.filter(kind="incident").order_by("-sequence").values_list("body", flat=True).first()
        return f"{text} {incident['message']}" if incident else text
    reason = job.message if job.status == Status.FAILED else "It ended before a lineup was complete."
    return f"The random lineups could not be played. {reason}"


def _strong(form: NewJobForm, found: RandomLineups) -> str:
    strength = next((o for o in form.measured.objectives if o.strength), None) if form.measured else None
    if strength is None or found.median.value is None:
        return ""
    baselines = form.lineups.baselines
    many = len(baselines.teams) if isinstance(baselines, PastedBaselines) else baselines.count
    team = "even the weakest team beats" if form.lineups.teams > 1 else "the team beats"
    has = level(found.median.value, found.median.half, strength.unit)
    if many == 1:
        return f"“Strong” means {team} your baseline team ({has} left)."
    return f"“Strong” means {team} the median of your {many} baseline teams ({has} left)."


def _times(form: NewJobForm, plan: plans.Plan, pace: Throughput) -> tuple[float, float] | None:
    battles = plan.lineups * battles_of_lineup(form.lineups, plan.replicates)
    own = form.experiment_share(plan)
    times = throughput.seconds(battles + _edge(form, plan) + own + companion.tests(own), form.worker_count, pace)
    least, most = companion.seconds(own)
    return times and (times[0] + least, times[1] + most)


def _efforts(form: NewJobForm, pace: Throughput) -> dict[str, Any]:
    """What each effort would be; the numbers that somebody typed are one of their own."""
    offered = {
        effort.key: plans.plan(effort, form.lineups, pace.sampled, form.there_are, form.edge)
        for effort in plans.EFFORTS.values()
    }
    if form.own_numbers:
        offered[plans.OWN] = form.plan(pace.sampled)
    found = {}
    for key, plan in offered.items():
        times = _times(form, plan, pace)
        found[key] = {"time": plans.about(*times) if times else "", "text": plans.words(plan, form.lineups)}
    return found


def _before(form: NewJobForm, job: Job | None, pace: Throughput) -> dict[str, Any]:
    plan = form.plan(pace.sampled)
    times = _times(form, plan, pace)
    return {
        "time": plans.about(*times) if times else "not known yet",
        "range": f"{plans.span(*times)} on this machine{_both(form, plan)}, {_measured(job, pace, form.there_are)}"
        if times
        else _unknown(job),
        "long": _long(times) if times else "",
        "rows": _rows(form, plan),
        "plan": plan.numbers,
    }


def _both(form: NewJobForm, plan: plans.Plan) -> str:
    return " for the search and what each piece is worth" if form.experiment_share(plan) else ""


def _long(times: tuple[float, float]) -> str:
    """A warning, when the search takes longer than people wait for."""
    if sum(times) / 2 < plans.LONG:
        return ""
    return (
        f"This takes {plans.about(*times)}. It goes on when you close the page, and you can explore what it has found "
        "at any time; a smaller look answers sooner."
    )


def _measured(job: Job | None, pace: Throughput, there_are: int | None) -> str:
    if pace.runs:
        last = "the last search" if pace.runs == 1 else f"the last {pace.runs} searches"
        return f"based on {last} of this game"
    if pace.earlier is not None:
        return "measured on earlier searches of this game"
    played = sample_of(job, there_are)
    if played is None:
        return "measured on earlier random lineups of this game"
    return f"measured on the {played.noun} just played"


def _unknown(job: Job | None) -> str:
    playing = job is not None and job.active
    return (
        "The random lineups tell how fast battles are here."
        if playing
        else "No lineup could be played to measure it by."
    )


def _rows(form: NewJobForm, plan: plans.Plan) -> list[tuple[str, str | list[tuple[str, str]]]]:
    """Names and values; a value may have rows of its own."""
    rules, spec = form.lineups, form.spec
    assert spec is not None
    version = form.cleaned_data["version"]
    tolerance = rules.cost_tolerance
    costs = "" if rules.teams == 1 else ", any price" if tolerance is None else f", costs within {percent(tolerance)}"
    used = {slot.category for slot in spec.slots if slot.kind == "piece"}
    banned = {*spec.rules.banned, *rules.banned}
    counts = [
        (c.plural, sum(p.category == c.id and p.id not in banned for p in spec.pieces))
        for c in spec.categories
        if c.id in used
    ]
    names = [plural_name if i == 0 else plural_name.lower() for i, (plural_name, _) in enumerate(counts)]
    baselines = rules.baselines
    drawn = not isinstance(baselines, PastedBaselines)
    many = baselines.count if not isinstance(baselines, PastedBaselines) else len(baselines.teams)
    battles = number(plan.lineups * battles_of_lineup(rules, plan.replicates))
    return [
        ("Game data", str(version)),
        *([("Both sides led by", form.leader.title)] if form.leader else []),
        ("Teams compared together", f"{rules.teams}{costs}"),
        (_listed(names), _listed([number(count) for _, count in counts])),
        ("Baseline teams", f"{many}, {'drawn for you' if drawn else 'yours'}"),
        ("Lineups", f"{number(plan.lineups)}, all there are" if plan.whole else number(plan.lineups)),
        *([("There are", number(plan.most))] if plan.most is not None and not plan.whole else []),
        ("Battles", f"{battles} and more" if form.noise.reevaluate or form.noise.racing != "off" else battles),
        ("Fresh battles at the end", _at_the_end(form, plan)),
        ("What each piece is worth", _worth_words(form, plan)),
        *_method_rows(form),
    ]


def _experiment(form: NewJobForm, pace: Throughput) -> dict[str, Any]:
    """The tick of "Also measure what each piece is worth", and what stands below it."""
    plan, why = form.plan(pace.sampled), form.experiment_obstacle()
    battles = form.experiment_share(plan)
    few = f"A search of so few battles has none to spare: type {number(FEWEST_MEASURING)} or more under details."
    tests = f"at most {number(companion.tests(battles))} more test what stands out."
    said = f"{number(battles)} battles after the search, with random teams of equal cost; {tests}" if battles else few
    return {
        "possible": not why,
        "wanted": form.ticked and not why,
        "text": why or (said if form.ticked else "The search alone says which lineups are unfair, not why."),
        "battles": number(share(plan.lineups * battles_of_lineup(form.lineups, plan.replicates))),
    }


def _worth_words(form: NewJobForm, plan: plans.Plan) -> str:
    battles = form.experiment_share(plan)
    if not battles:
        return "not measured"
    tests = f"at most {number(companion.tests(battles))} more to test what it names"
    return f"{number(battles)} battles, after the search; {tests}"


def _edge(form: NewJobForm, plan: plans.Plan) -> int:
    """Battles that the final edge takes, as a rule."""
    return plans.edge_battles(plan, form.lineups, form.fresh_replicates, form.edge)


def _at_the_end(form: NewJobForm, plan: plans.Plan) -> str | list[tuple[str, str]]:
    """What is played once the search has ended, a row each; more only where battles can be played on from their
    seeds."""
    if not form.fresh_replicates:
        return "the edge is not played again"
    assert form.spec is not None
    most = plans.most_edge_battles(plan, form.lineups, form.fresh_replicates, form.edge)
    each = number(battles_of_lineup(form.lineups, form.fresh_replicates))
    others = [("Each of the others of its map", f"at most {each}")] if form.edge.cells else []
    usual = f"about {number(_said(_edge(form, plan)))}, at most {number(most)}"
    edge = [("The edge again", usual), ("Each lineup of it", each), *others]
    lined = form.measured is not None and any(o.threshold is not None for o in form.measured.objectives)
    if not lined or not form.spec.reproducible:
        return edge
    again = number(FURTHER * battles_of_lineup(form.lineups, form.fresh_replicates))
    return [
        *edge,
        ("Extra battles for undecided lineups", f"at most {number(FURTHER * most)} ({again} each)"),
    ]


def _said(battles: int) -> int:
    """To two digits: it is a guess."""
    return int(float(f"{battles:.1e}"))


def _method_rows(form: NewJobForm) -> list[tuple[str, str]]:
    """What differs from the usual way of looking, in a row each."""
    assert form.measured is not None
    assert form.offered is not None
    method, rows = form.method, []
    if method.kind != LINEUPS.usual:
        one = len(form.measured.objectives) < len(form.offered.objectives)
        rows.append(("Method", f"{method.title}, {form.measured.objectives[0].title} alone" if one else method.title))
    if form.noise.racing != "off":
        error = f", error {percent(form.noise.error)}" if form.noise.racing != "halving" else ", no stated error"
        rows.append(("Racing", f"on{error}"))
    if form.noise.reevaluate:
        rows.append(("Measured again each round", number(form.noise.reevaluate)))
    ends = [ends_when(rule.model_dump()) for rule in form.stop]
    return [*rows, *([("Ends early", "; ".join(ends))] if ends else [])]


def _listed(words: list[str]) -> str:
    """ "heroes, skills and equipment" """
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""
