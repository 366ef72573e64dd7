"""Messages about programs without their command lines, which are told to site operators only."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

PROGRAMS = frozenset({"command", "python"})
"""Kinds of registered programs, as their references begin."""
ITS_PROGRAM = "the simulator’s program"
HIDDEN = "[hidden]"
"""What stands in a message for a word of the command line."""
SHORTEST = 4
"""Characters of the shortest part of an argument that is hidden: shorter ones are in every message by chance."""
_FOLDERS = re.compile(r"(?<![\w:/.~])~?/(?:[^\s/“”\"'`:;,()<>]+/)+")
_FILE = re.compile(r"/[^/]+\.\w+$")
_PARTS = re.compile(r"[\s=:,;@?&'\"\\|{}\[\]()]+")


def is_program(reference: str) -> bool:
    """Whether an engine's reference holds a command or an entry point, by whatever way it is spoken to (``+tcp``)."""
    return reference.partition(":")[0].partition("+")[0] in PROGRAMS


def reference_in(config: Mapping[str, Any]) -> str:
    """The reference of the game that a study plays; empty where it names none."""
    game = config.get("task", config).get("game", {})
    return str(game.get("simulator") or game.get("name") or "")


def without_command(text: str, reference: str, name: str = "") -> str:
    """A message about a program, or printed by it, without its command line and without the folders of files. Where the
    engine calls the program by its file, the message has its registered ``name`` instead, which is never hidden."""
    if not is_program(reference):
        return text
    first, *others = _label(reference, name).split(text)  # tests of earlier versions have the registered name already
    parts = [_hidden(first, reference)]
    for article, sort, rest in zip(others[::3], others[1::3], others[2::3], strict=True):
        called = f"{article} {sort} “{name}”" if name else f"{article} {ITS_PROGRAM[4:]}"
        parts += [called, _hidden(rest, reference)]
    return "".join(parts)


def _hidden(text: str, reference: str) -> str:
    target = reference.partition(":")[2]
    program, *arguments = _argv(reference)
    for whole in (reference, target, program if "/" in program else ""):
        text = text.replace(whole, ITS_PROGRAM) if whole else text
    if len(name := program.rpartition("/")[2]) >= SHORTEST and name != program:  # as programs call themselves
        text = re.sub(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])", ITS_PROGRAM, text)
    return _FOLDERS.sub("", _without(text, _telling(arguments)))


def with_name(text: str, reference: str, name: str) -> str:
    """A message in which the engine calls a program by its file, such as python, with its registered name instead."""
    if not is_program(reference):
        return text
    return _label(reference).sub(lambda found: f"{found[1]} {found[2]} “{name}”", text)


def _label(reference: str, name: str = "") -> re.Pattern[str]:
    """What messages call a program: the article, then whether it is a simulator or a game. The engine has its file in
    them, and a site has the ``name`` that it is registered under."""
    target, program = reference.partition(":")[2], _argv(reference)[0]
    names = "|".join(re.escape(each) for each in (target, program, program.rpartition("/")[2], name) if each)
    return re.compile(rf"\b([Tt]he) (simulator|game) “(?:{names})”")


def _argv(reference: str) -> list[str]:
    """The program and its arguments, as the engine takes the reference apart; of what it refuses, the words."""
    target = reference.partition(":")[2].strip()
    try:
        argv = msgspec.json.decode(target, type=list[str]) if target.startswith("[") else shlex.split(target)
    except (ValueError, msgspec.DecodeError):
        argv = re.split(r"[\s'\"]+", target)
    return argv or [target]


def _telling(arguments: Iterable[str]) -> Iterator[str]:
    """The arguments, and the parts of them that tell something by themselves: of ``--key=SECRET`` also SECRET, which a
    program may print alone, and of a file its name without the folders."""
    for argument in arguments:
        yield argument
        name, _, value = argument.partition("=") if argument.startswith("-") else ("", "", argument)
        for part in _PARTS.split(value or name.lstrip("-")):
            yield part.strip("/")
            if _FILE.search(part):
                yield part.rpartition("/")[2]


def _without(text: str, words: Iterable[str]) -> str:
    """``text`` with each of ``words`` hidden, the longest first, also as a shell or Python would quote it."""
    found = {form for word in words for form in (word, repr(word)[1:-1], shlex.quote(word))}
    for word in sorted(found, key=len, reverse=True):
        if len(word) >= SHORTEST:
            text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", HIDDEN, text)
    return text
