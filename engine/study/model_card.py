"""The model card of a measured agent: what it is, where it comes from, and how it was measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from engine.catalog import built_in
from engine.config.agents import MeasureConfig
from engine.config.limits import LimitsConfig
from engine.means import WHY_NOWHERE
from engine.rl.onnx import OPSET
from engine.rl.policy import FORMAT, Policy
from engine.rl.take_home import table
from engine.styles.strangers import ENOUGH, FRAGILE, Moved, who_lie_apart, why_unjudged
from engine.text import in_markdown, written

VERDICTS = {"fragile": True, "holds": False, "open": None}
PLAIN = {"win": "wins", "score": "scores", "length": "lasts, in decisions"}
"""What measures of every game are called."""
RETURN = "return:"
"""Before the name of a reward: its sum in an episode."""
NOT_RECORDED = "not recorded when it was kept, by an earlier version or outside the site"
GREEDY, SAMPLED = "takes the likeliest action", "draws its actions by their odds"


def card_of(config: MeasureConfig, policy: Policy, found: Mapping[str, Any]) -> dict[str, Any]:
    """The card as JSON; ``found``: by the measurement."""
    return {
        "name": config.agent.title or config.name,
        "format": FORMAT,
        "onnx_opset": OPSET,
        "game": {
            "name": found["game"],
            "version": found["game_version"],
            "settings": config.game.model_dump()["settings"],
        },
        "seat": msgspec.to_builtins(policy.spec.seat),
        "chooses": SAMPLED if found["sampled"] else GREEDY,
        "limits": (config.agent.limits or LimitsConfig()).model_dump() | {"idle": found["idle"]},
        "opponent": "" if config.opponent is None else config.opponent.title or config.opponent.kind,
        "others": own_player(config.game.name) if config.opponent is None else "",
        "measure_names": names(config.game.name),
        "origin": config.origin.model_dump(mode="json"),
        "network": policy.spec.network.model_dump(mode="json"),
        "measured": {
            "episodes": found["episodes"],
            "seed": config.seed,
            "data": config.data,
            "draws": found["draws"],
            "measures": found["measures"],
        },
        "against_strangers": _against(config, found),
        "processor_milliseconds_per_decision": found["milliseconds"],
        "processor": found["processor"],
        "vectors": found["check"],
    }


def _time(card: Mapping[str, Any]) -> str:
    on = f" ({in_markdown(card['processor'])})" if card["processor"] else ", of a processor that does not say its model"
    return f"{card['processor_milliseconds_per_decision']:.3f} ms for a decision on one thread{on}"


def _data(learned: str, measured: str) -> str:
    trained, now = in_markdown(learned) or "the game's own", in_markdown(measured)
    return f"trained on {trained}, measured on {now}" if measured not in ("", learned) else trained


def _decisions(origin: Mapping[str, Any]) -> str:
    return f"{origin['steps']:,} decisions" if origin["steps"] else f"a number of decisions that was {NOT_RECORDED}"


def _population(origin: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Who it was in a population that trained against itself, and how strong; nothing where it was in none."""
    said = ", ".join(filter(None, (origin.get("member"), origin.get("strength"))))
    return [("In its population", in_markdown(said))] if said else []


def _against(config: MeasureConfig, found: Mapping[str, Any]) -> dict[str, Any]:
    """How it does against strangers, and whether it is fragile there (None: nobody can say yet)."""
    moved = found["moved"]
    return {
        "opponents": found["against"],
        "style": list(config.style),
        "moved": moved,
        "fragile": None if moved is None else VERDICTS[Moved(**moved).verdict],
        "fragile_beyond": FRAGILE,
    }


def in_words(card: Mapping[str, Any]) -> str:
    """The card as Markdown."""
    origin, measured, check = card["origin"], card["measured"], card["vectors"]
    facts = [
        ("", ""),
        ("Game", in_markdown(f"{card['game']['name']}, version {card['game']['version']}")),
        ("Chooses", f"It {card['chooses']}."),
        ("Limits", limits_in_words(card["limits"])),
        ("Measured against", in_markdown(card["opponent"]) or card["others"]),
        ("From", in_markdown(origin["job"]) or NOT_RECORDED),
        *_population(origin),
        ("Game data", _data(origin["data"], measured["data"])),
        ("Learned from", f"{_decisions(origin)}, seed {origin['seed']}"),
        ("Learner", in_markdown(origin["learner"]) or NOT_RECORDED),
        ("Signals", in_markdown(", ".join(card["seat"]["signals"])) or "none"),
        ("ONNX", f"opset {card['onnx_opset']}; observations are scaled inside, and `legal` forbids actions"),
        ("Processor time", _time(card)),
    ]  # fmt: skip
    called = card["measure_names"]
    rows = [("Measure", "Mean", "Range"), *(_measure(each, called) for each in measured["measures"])]
    return (
        f"# {in_markdown(card['name'])}\n\n{table(facts)}\n## What it does\n\n"
        f"{measured['episodes']:,} fresh episodes, seed {measured['seed']}. Ranges of wins and shares are of 95 % and "
        "hold for whatever may happen; those of other measures hold only if no episode goes far beyond the ones that "
        f"were played.{_unknown(card)}\n\n"
        f"{_draws(measured)}{table(rows)}\n{_strangers(card)}"
        "## The same agent\n\n"
        f"In {check['situations']:,} situations of fresh episodes agent.onnx acted alike in {check['same']:,} "
        "(where two choices are worth the same up to rounding, either is alike); "
        f"its numbers differed by {check['difference']:.1e} of their scale at most. `python check.py` compares them "
        "again.\n"
    )


def limits_in_words(limits: Mapping[str, Any]) -> str:
    """What whoever runs the agent must hold back."""
    held = LimitsConfig(delay=limits["delay"], apart=limits["apart"])
    if not held.any:
        return "none: it reacts at once, and acts whenever it likes"
    later = f"{held.delay} decision{'s' if held.delay > 1 else ''} later"
    late = f"what it decides happens {later}" if held.delay else "it reacts at once"
    rare = (
        f"what it does changes at most once in {held.apart} decisions" if held.apart > 1 else "it acts at any decision"
    )
    return (
        f"{late}; {rare}. Its hands are idle, which is the action {limits['idle']}, until its first decision arrives. "
        "A change that comes too soon is dropped and not queued: it happens later only if it is decided again. "
        "All begins anew with an episode. agent.onnx tells one decision: hold its actions back with hands.py, "
        "as it learned and was measured"
    )


def own_player(game: str) -> str:
    """Who else is in a game that was measured without an opponent."""
    known = built_in(game)
    alone = known.alone if known is not None else game.startswith("gym:")
    return "nobody: it plays alone" if alone else "the game's own player"


def _draws(measured: Mapping[str, Any]) -> str:
    """What a draw counts, as Markdown; empty where no episode was drawn."""
    return "A draw counts as half a win.\n\n" if measured["draws"] else ""


def _strangers(card: Mapping[str, Any]) -> str:
    """How it does against opponents that it never learned against, as Markdown; empty where it met none."""
    against = card["against_strangers"]
    if not against["opponents"]:
        return ""
    called = card["measure_names"]
    own = [each["name"] for each in card["measured"]["measures"]]
    by = [{m["name"]: _measure(m, called) for m in other["measures"]} for other in against["opponents"]]
    head = ("Measure", *(in_markdown(other["opponent"]) for other in against["opponents"]))
    rows = [
        (by[0][name][0], *(f"{each[name][1]} ({each[name][2]})" for each in by))
        for name in own
        if all(name in each for each in by)
    ]
    return (
        f"## Against opponents it never learned against\n\nOn as many episodes with the same seeds; ranges in "
        f"brackets.\n\n{table([head, *rows])}\n{_held(card)}\n\n"
    )


def _held(card: Mapping[str, Any]) -> str:
    """Whether its style holds there, in sentences."""
    against, spans = card["against_strangers"], card["origin"].get("spans", {})
    moved = against["moved"]
    if moved is None:
        everywhere = [card["measured"]["measures"], *(other["measures"] for other in against["opponents"])]
        measured = set.intersection(*({each["name"] for each in measures} for measures in everywhere))
        return why_unjudged(against["style"], measured, spans)
    within = f", {moved['low']:.2f} to {moved['high']:.2f}" if moved["high"] is not None else ""
    which = in_markdown(f"{moved['measure']}, against {moved['opponent']}")
    far = f"Its style shifts by {moved['by']:.2f} of its span ({which}{within})"
    line = f"{against['fragile_beyond']:g}"
    span = f"Its span is how far {who_lie_apart(moved['measure'], spans)} lie apart{_rests(card['origin'])}."
    if moved.get("few"):
        return f"{far}. {span} So few do not tell whether it shifts by more than {line}: {ENOUGH} are the least."
    if against["fragile"] is None:
        more = f"; at least about {moved['episodes']:,} episodes would tell" if moved["episodes"] else ""
        why = ", for the game does not say how far this measure can go" if moved["unseen"] else ""
        return f"{far}. Whether that is more than {line} cannot be told yet{why}{more}. {span}"
    verdict = f"more than {line}, it is **fragile**." if against["fragile"] else f"not above {line}, it holds."
    return f"{far}: {verdict} {span}"


def _rests(origin: Mapping[str, Any]) -> str:
    """On how many episodes of each agent a search's span rests; empty where that was not recorded."""
    episodes = origin.get("spans_episodes", 0)
    return f", by {episodes:,} episodes of each, and is taken as it was measured there" if episodes else ""


def names(game: str) -> dict[str, str]:
    """What measures of a game are called for people, by their names in files."""
    known = built_in(game)
    return {**PLAIN, **({name: signal.words for name, signal in known.captions.items()} if known else {})}


def _unknown(card: Mapping[str, Any]) -> str:
    """Why some range is not known, in a sentence; empty where all are."""
    every = [card["measured"]["measures"], *(other["measures"] for other in card["against_strangers"]["opponents"])]
    missing = any(m["low"] is None or m["high"] is None for measures in every for m in measures)
    return f" A range is unknown where {WHY_NOWHERE}." if missing else ""


def _measure(each: Mapping[str, Any], called: Mapping[str, str]) -> tuple[str, str, str]:
    name, known = each["name"], each["low"] is not None and each["high"] is not None
    words = (
        f"sum of the reward “{in_markdown(name.removeprefix(RETURN))}”"
        if name.startswith(RETURN)
        else called.get(name, "")
    )
    return (
        f"{words} ({_code(name)})" if words else _code(name),
        written(each["mean"], ".4g"),
        f"{written(each['low'], '.4g')} to {written(each['high'], '.4g')}" if known else "range unknown",
    )


def _code(name: str) -> str:
    """A name from a file as Markdown's code, where that can hold it."""
    return in_markdown(name) if set(name) & {"`", "|"} else f"`{name}`"
