"""A gate as JUnit XML, which build servers draw: one test for each exploit and each finding of the screen, one for the
search.

*Over* is a ``failure``. *Cannot tell* is ``skipped`` with the sentence as its message, not an ``error``: an error says
that the test itself broke, and Jenkins, GitLab and GitHub's reporters draw it as red as a failure, so nobody would see
which findings were confirmed; skipped ones are drawn apart from passed and failed ones, with their message. Whether a
build may go on with them is for the exit code (4) to say. A gate that could not be run is an ``error``.

Sentences stand in the attribute and in the text: Jenkins shows the first of skipped tests, GitLab the second of failed
ones. The format was never standardised; this is what the schemas of Jenkins's xUnit plugin (junit-10) and of Apache Ant
(Windy Road) both allow, but for ``hostname``, which is that of nobody here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from engine.gate.report import WORDS, GateFinding, Report

PARTS = {"replay": "Earlier exploits", "screen": "Pieces", "search": "Search"}
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML 1.0 document may hold, escaped or not."""
_TAGS = {"over": "failure", "open": "skipped"}


def to_junit(report: Report, seconds: float = 0.0, stamp: str = "1970-01-01T00:00:00") -> bytes:
    """The report as a document in UTF-8. ``stamp``: when the gate ended, ISO 8601, without a zone."""
    cases = [*_cases(report)]
    counts = {tag: sum(f"<{tag} " in case for case in cases) for tag in ("failure", "skipped")}
    return _document(report.name, cases, counts | {"error": 0}, seconds, stamp, report.sentence)


def broken(name: str, message: str, stamp: str = "1970-01-01T00:00:00") -> bytes:
    """A gate that could not be run."""
    case = _case(
        "Gate", "It can be run", f"<error {_attributes(type='error', message=message)}>{_text(message)}</error>"
    )
    return _document(name, [case], {"failure": 0, "skipped": 0, "error": 1}, 0.0, stamp, message)


def _document(
    name: str, cases: list[str], counts: dict[str, int], seconds: float, stamp: str, sentence: str
) -> bytes:  # fmt: skip
    totals = {"tests": str(len(cases)), "failures": str(counts["failure"]), "errors": str(counts["error"])}
    own = {**totals, "skipped": str(counts["skipped"]), "time": f"{seconds:.3f}"}
    suite = _attributes(name=name, package="gate", id="0", timestamp=stamp, hostname="localhost", **own)
    body = "\n".join(["    <properties/>", *cases, f"    <system-out>{_text(sentence)}</system-out>",
                      "    <system-err></system-err>"])  # fmt: skip
    head = _attributes(name=name, time=own["time"], **totals)
    text = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {head}>\n  <testsuite {suite}>\n{body}\n'
        "  </testsuite>\n</testsuites>\n"
    )
    return text.encode()


def _cases(report: Report) -> Iterator[str]:
    for row in report.rows:
        if row.part != "search":
            yield _case(PARTS[row.part], row.name, _outcome(row.verdict, row.words))
    searched = [row for row in report.rows if row.part == "search"]
    if searched:
        yield _case(PARTS["search"], "No lineup over the line is found", _search(searched))
    for part in report.unfinished:
        yield _case(PARTS[part], "It is complete", _outcome("open", f"The {part} is not over."))


def _search(rows: list[GateFinding]) -> str:
    """The worst that a lineup of the search is, and what is said of each that is as bad."""
    worst = next((verdict for verdict in ("over", "open") if any(row.verdict == verdict for row in rows)), "under")
    return _outcome(worst, "\n".join(f"{row.name}: {row.words}" for row in rows if row.verdict == worst))


def _outcome(verdict: str, words: str) -> str:
    tag = _TAGS.get(verdict)
    if tag is None:
        return ""
    kind = {"type": WORDS[verdict]} if tag == "failure" else {}
    return f"<{tag} {_attributes(message=words, **kind)}>{_text(words)}</{tag}>"


def _case(group: str, name: str, outcome: str) -> str:
    head = _attributes(classname=f"Gate.{group}", name=name, time="0")
    return f"    <testcase {head}>{outcome}</testcase>"


def _attributes(**values: str) -> str:
    return " ".join(f"{key}={_quoted(value)}" for key, value in values.items())


def _quoted(value: str) -> str:
    """With line breaks written so that a parser keeps them."""
    return quoteattr(_FORBIDDEN.sub("\ufffd", value))


def _text(value: str) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", value), {"\r": "&#13;"})
