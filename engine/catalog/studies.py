"""The kinds of study."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from engine.catalog.entry import imported
from engine.config.aesrl import AESRLConfig
from engine.config.agents import MeasureConfig, RecordConfig
from engine.config.arena import ArenaConfig
from engine.config.base import Study
from engine.config.episodes import EpisodesConfig
from engine.config.evaluate import EvaluateConfig
from engine.config.evolve import EvolveConfig
from engine.config.gate import GateConfig
from engine.config.gossip import GossipConfig
from engine.config.hunt import HuntConfig
from engine.config.metagame import MetagameConfig
from engine.config.patch import PatchConfig
from engine.config.removal import RemovalConfig
from engine.config.self_play import SelfPlayConfig
from engine.config.sensitivity import SensitivityConfig
from engine.config.starts import StartsConfig
from engine.config.study import ChangeConfig, RecheckConfig, SampleConfig, SearchConfig
from engine.config.styles import StylesConfig
from engine.config.train import TrainConfig
from engine.config.worth import WorthConfig


class StudyKind(NamedTuple):
    """A kind of study. What deals with any kind reads these fields; only code about one kind compares its name.

    ``path``: its runner, called with (config, store, hash of a checkpoint or "", control), which iterates over events.
    ``console``: its output on the command line (``engine.console.Wording``). ``unit``: the field of ``Counters`` that
    counts its work, and ``counts``, one of these where it is no battle or decision. ``role``: the artifact that holds
    everything it evaluated; empty: there is none. Words for sentences: ``noun``, the study; ``tick``, one of its ticks;
    ``gained``, a participle for the results that a stop keeps; ``hands``, its workers. ``genes``: the part of its
    settings whose numbers may be ranges; empty: none may. ``beside``: says which study the command line runs after one
    (``engine.accompanied``); empty: none. ``lines``: makes lines for the command line of its results, called with
    (config, artifacts, store); empty: nothing does.
    """

    label: str
    noun: str
    config: type[Study]
    path: str
    console: str
    unit: Literal["battles", "steps"]
    role: str
    tick: str = "round"
    gained: str = "found"
    hands: str = "battle workers"
    genes: str = ""
    beside: str = ""
    lines: str = ""
    counts: str = ""

    @property
    def called(self) -> str:
        """Its label with an article, for the middle of a sentence."""
        return f"{'an' if self.label[0] in 'AEIOU' else 'a'} {self.label[0].lower()}{self.label[1:]}"

    def load(self) -> Any:
        """The runner, imported now, so that each study and its actors load only what they need."""
        return imported(self.path)


STUDIES: dict[str, StudyKind] = {
    "search": StudyKind(
        "Search", "search", SearchConfig, "engine.study.lineups:run", "engine.console:Searched", "battles", "archive",
        beside="engine.study.companion:planned",
    ),
    "recheck": StudyKind(
        "Re-check on fresh battles", "re-check", RecheckConfig, "engine.study.lineups:recheck",
        "engine.console:Searched", "battles", "result", tick="part",
    ),
    "sample": StudyKind(
        "Random sample", "sample", SampleConfig, "engine.study.lineups:sample", "engine.console:Searched", "battles",
        "sample", tick="part",
    ),
    "train": StudyKind(
        "Training", "training", TrainConfig, "engine.study.train:train", "engine.console:Trained", "steps", "",
        gained="learned", hands="samplers",
    ),
    "gossip": StudyKind(
        "Training side by side", "training", GossipConfig, "engine.study.gossip:gossip", "engine.console:SideBySide",
        "steps", "", gained="learned", hands="agents",
    ),
    "arena": StudyKind(
        "Lessons for several agents", "course", ArenaConfig, "engine.study.arena:arena", "engine.console:Courses",
        "steps", "", gained="learned", hands="samplers", lines="engine.study.course_standings:lines",
    ),
    "starts": StudyKind(
        "Easier starts", "training", StartsConfig, "engine.study.starts:starts", "engine.console:EasierStarts", "steps",
        "", gained="learned", hands="actors",
    ),
    "evolve": StudyKind(
        "Search for training settings", "search", EvolveConfig, "engine.study.evolve:evolve", "engine.console:Evolved",
        "steps", "archive", genes="task",
    ),
    "style": StudyKind(
        "Styles of play", "search", StylesConfig, "engine.study.styles:styles", "engine.console:Evolved", "steps",
        "archive", genes="task",
    ),
    "hunt": StudyKind(
        "Hunt for bugs", "hunt", HuntConfig, "engine.study.hunt:hunt", "engine.study.hunt:Words", "steps", "archive",
        genes="task", lines="engine.study.hunt:lines",
    ),
    "self-play": StudyKind(
        "Self-play", "self-play training", SelfPlayConfig, "engine.study.self_play:self_play", "engine.console:Evolved",
        "steps", "archive", genes="task",
    ),
    "aes-rl": StudyKind(
        "Evolution and learning", "training", AESRLConfig, "engine.study.aesrl:aes_rl", "engine.study.aesrl:Words",
        "steps", "", gained="learned", hands="workers",
    ),
    "episodes": StudyKind(
        "Sample episodes", "sample", EpisodesConfig, "engine.study.episodes:episodes", "engine.study.episodes:Words",
        "steps", "", gained="played",
    ),
    "evaluate": StudyKind(
        "Evaluation", "evaluation", EvaluateConfig, "engine.study.round_robin:evaluate",
        "engine.study.round_robin:Words", "battles", "table", tick="pair", gained="played", counts="episode",
    ),
    "measure": StudyKind(
        "Measurement of an agent", "measurement", MeasureConfig, "engine.study.measure:measure",
        "engine.study.measure:Words", "battles", "table", tick="part", gained="played", counts="episode",
    ),
    "record": StudyKind(
        "Battles to watch", "recording", RecordConfig, "engine.study.record_battles:record_battles",
        "engine.study.record_battles:Words", "battles", "recording", tick="battle", gained="recorded",
    ),
    "worth": StudyKind(
        "What each piece is worth", "experiment", WorthConfig, "engine.study.worth:worth", "engine.study.worth:Words",
        "battles", "table", tick="part", gained="measured", lines="engine.study.worth:table_lines",
    ),
    "metagame": StudyKind(
        "Who beats whom", "round robin", MetagameConfig, "engine.study.metagame:metagame",
        "engine.study.metagame:Words", "battles", "table", tick="part", gained="played",
    ),
    "gate": StudyKind(
        "Gate", "gate", GateConfig, "engine.study.gate:gate", "engine.study.gate:Words", "battles", "table",
        tick="part", gained="played",
    ),
    "patch": StudyKind(
        "What is the smallest change?", "search for changes", PatchConfig, "engine.study.patch:patch",
        "engine.study.patch:Words", "battles", "table", tick="part",
    ),
    "change": StudyKind(
        "Try a change", "replay", ChangeConfig, "engine.study.change:change", "engine.study.change:Words", "battles",
        "table", tick="part", gained="measured",
    ),
    "removal": StudyKind(
        "What is left without it", "removal test", RemovalConfig, "engine.study.removal:removal",
        "engine.study.removal:Words", "battles", "table", tick="part", gained="measured",
    ),
    "sensitivity": StudyKind(
        "How hard did we look?", "sensitivity", SensitivityConfig, "engine.study.sensitivity:sensitivity",
        "engine.study.sensitivity:Words", "battles", "table", tick="planting", gained="counted",
    ),
}  # fmt: skip
