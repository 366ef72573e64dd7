"""The card of one agent of a style map."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from engine.confidence import Range
from engine.errors import StoreError
from engine.styles.likeness import ALIKE, Likeness
from engine.styles.strangers import Moved
from webapp.agents.captions import held_words, rests_words
from webapp.agents.models import Agent
from webapp.lib.words import number, percent
from webapp.studies.models import Job
from webapp.styles import few_episodes
from webapp.styles.evidence import SKILLED
from webapp.styles.freshest import freshest
from webapp.styles.learned import Parents, learned_from, trainings
from webapp.styles.map_agents import SCORE, Agents, files, parents_of
from webapp.styles.map_genes import Gene, fixed, genes_of
from webapp.styles.map_levels import levels
from webapp.styles.map_strangers import Against, against, held, in_words, met, shown
from webapp.styles.map_words import CellText, MeasureAxis, axes, cell_of


class MeasureText(NamedTuple):
    """A measure of an agent in words: its ``title``, its ``value`` and its range (``ends``), and the same on fresh
    episodes, where it was measured on them (``fresh``)."""

    title: str
    value: str
    ends: str
    fresh: str


class Level(NamedTuple):
    """An agent of the same style at another difficulty; ``alike``: how sure that is, empty for the agent itself."""

    agent: int
    here: bool
    words: str
    alike: str


class Card(NamedTuple):
    """``parents``: mother and father; ``lineage``: where its network comes from, in a sentence; ``abroad``: what it
    does against strangers, by the measures in ``abroad_titles`` and on so many ``abroad_episodes``; ``held``: whether
    its style holds there; ``others_met``: whether anybody has met them; ``kept``: the saved agent that it is; ``lost``:
    why it can be neither kept nor watched, empty where it can; ``few``: what so few episodes, fresh ones where it has
    such, leave open; ``networks``: what the search does with them; ``open_ended``: titles of measures without declared
    ends, whose ranges are no 95 % ranges."""

    agent: int
    tick: int
    edge: bool
    last: bool
    measures: list[MeasureText]
    samples: int
    fresh: int
    few: str
    genes: list[Gene]
    parents: tuple[int, ...]
    lineage: str
    levels: list[Level]
    abroad: list[Against]
    abroad_titles: list[str]
    abroad_episodes: int
    held: Moved | None
    others_met: bool
    kept: Agent | None
    lost: str
    networks: str
    open_ended: list[str]

    @property
    def held_words(self) -> str:
        """Whether its style holds, in sentences."""
        return "" if self.held is None else held_words(self.held)

    @property
    def rests(self) -> str:
        """On how many episodes of each agent the spread rests."""
        return rests_words(self.samples)

    @property
    def weighed(self) -> list[Gene]:
        """What can be told as numbers, too."""
        return [gene for gene in self.genes if gene.number]


def card_of(job: Job, agents: Agents, row: int) -> Card:
    """The card of the agent in this row. Raises StoreError where something about all of them is lost."""
    agent, tick = int(agents.id[row]), int(agents.tick[row])
    parents, strangers = parents_of(job), met(job)
    again = strangers.own
    fresh_row = None if again is None else again.row(agent)
    known = axes(job.config)
    measures = [_measure_text(known[name], agents, row, again, fresh_row) for name in known]
    genes = [*genes_of(job.config, agents.paths, agents.genes[row].tolist()), *fixed(job.config, agents.paths)]
    kept, lost = _kept(job, agent, tick)
    return Card(
        agent, tick, bool(agents.edge[row]), bool(agents.last[row]), measures, agents.samples,
        0 if again is None or fresh_row is None else again.samples,
        _few(agents, row) if again is None or fresh_row is None else _few(again, fresh_row), genes,
        parents.get(agent, ()),
        _lineage(job, agents, agent, parents),
        levels_of(freshest(job, agents, again), row, known), against(strangers, agent, known),
        [known[name].title for name in known if name in shown(agents)],
        min((each.samples for each in strangers.others.values()), default=0), held(agents, row, strangers),
        bool(strangers.others), kept, lost, job.config["networks"],
        [axis.title for axis in known.values() if not axis.declared],
    )  # fmt: skip


def _few(agents: Agents, row: int) -> str:
    here, score = slice(row, row + 1), agents.score
    return few_episodes.words(agents.samples, score.low[here], score.high[here], SKILLED)


def _measure_text(
    axis: MeasureAxis, agents: Agents, row: int, again: Agents | None, fresh_row: int | None
) -> MeasureText:
    fresh = "" if again is None or fresh_row is None else in_words(cell_of(again, fresh_row, axis))
    return MeasureText(axis.title, *cell_of(agents, row, axis), fresh)


def _lineage(job: Job, agents: Agents, agent: int, parents: Parents) -> str:
    count, learned = len(trainings(job.config, agent, parents)), learned_from(job, agents, agent, parents)
    total = f", {number(learned)} decisions in all" if learned else ""
    if count == 1:
        began = "the agent that the search began with" if job.config["start"] else "a new network"
        first = "Its" if agent in parents else "It is of the first agents: its"
        return f"{first} training began with {began}{total}."
    after = ", after those of the agent that the search began with" if job.config["start"] else ""
    return f"Its network has learned in {count} trainings, one after the other{after}{total}."


def levels_of(agents: Agents, row: int, known: dict[str, MeasureAxis]) -> list[Level]:
    """The same style at up to three difficulties, that of this row among them; none where there are no others."""
    found = levels(agents, row)
    if len(found) < 2:
        return []

    def level_words(each: int, ends: Range) -> str:
        score = known[SCORE]
        low, high = (score.text(min(max(end, score.reach[0]), score.reach[1])) for end in ends)
        own = CellText(score.text(float(agents.score.mean[each])), f"{low} to {high}")
        cells = [(SCORE, own), *((name, cell_of(agents, each, known[name])) for name in agents.behaviour)]
        return "; ".join(f"{known[name].title}: {in_words(cell)}" for name, cell in cells)

    return [
        Level(int(agents.id[each]), each == row, level_words(each, one.score),
              "" if each == row else alike_words(one.alike))
        for each, one in found.items()
    ]  # fmt: skip


def alike_words(found: Likeness) -> str:
    """ "May be the same style: it differs by 8 % of what all agents span, at most by 31 %"."""
    most = f"at most by {percent(found.high)}" if found.high < 1 else "too few episodes to say by how much at most"
    unsure = "May be the same style" if found.by <= ALIKE else "Looks like another style, but may be the same"
    said = "Surely the same style" if found.verdict == "same" else unsure
    return f"{said}: it differs by {percent(found.by)} of what all agents span, {most}"


def _kept(job: Job, agent: int, tick: int) -> tuple[Agent | None, str]:
    """The saved agent that this one is, and why its policy cannot be had."""
    try:
        policy = hashlib.sha256(files(job, agent, tick).description).hexdigest()
    except StoreError as error:
        return None, str(error)
    return Agent.objects.kept().filter(job=job, policy=policy, sampled=False).first(), ""
