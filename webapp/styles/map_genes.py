"""What makes an agent of a style map other than the rest: the settings of its own, in words and as numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

from webapp.styles.map_words import gene_text, template_of
from webapp.styles.weighing import ends_of, taste
from webapp.training.evolved import setting_title

WEIGHTS = ("w1", "w2")
_PART = "style."


class Gene(NamedTuple):
    """A setting of one agent in words, and what it is as a number where that says more."""

    title: str
    words: str
    number: str = ""


def titles(config: dict[str, Any], paths: tuple[str, ...]) -> list[str]:
    """What the settings at these places are called."""
    return [_gene(config, path, 0.0).title for path in paths]


def genes_of(config: dict[str, Any], paths: tuple[str, ...], values: list[float]) -> list[Gene]:
    """The settings of an agent at these places."""
    return [_gene(config, path, value) for path, value in zip(paths, values, strict=True)]


def fixed(config: dict[str, Any], paths: tuple[str, ...]) -> list[Gene]:
    """Weights that are the same for all agents."""
    style = config["task"]["style"]
    same = [(name, style[name]) for name in WEIGHTS if _PART + name not in paths and not isinstance(style[name], list)]
    return [Gene(_gene(config, _PART + name, value).title, "the same for all", gene_text(value))
            for name, value in same]  # fmt: skip


def _gene(config: dict[str, Any], path: str, value: float) -> Gene:
    plain = setting_title(config["task"]["learner"]["kind"], path)
    name = path.removeprefix(_PART)
    words = taste(config["task"]["style"], name, value, ends_of(template_of(config))) if name in WEIGHTS else None
    return Gene(plain, gene_text(value)) if words is None else Gene(*words, gene_text(value))
