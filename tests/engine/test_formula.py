"""Formulas: what they may be, what they compute, and that nothing else gets through."""

from __future__ import annotations

import ast
import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import ConfigError
from engine.formula import FIXED, LONGEST, _Checker, goal, parse, read
from engine.formula_functions import REFUSED, STRONGEST, WEAKEST
from engine.formula_terms import Apart

TEAM = {"strength", "resources", "cost"}
VALUES = {
    "strength": np.array([[10.0, 30, 20], [5, 1, 9]]),
    "resources": np.array([[1.0, 5, 3], [9, 2, 4]]),
    "cost": np.full((2, 3), 10.0),
    "duration": np.array([[7.0], [8.0]]),
    STRONGEST: np.array([[1], [2]]),
    WEAKEST: np.array([[0], [1]]),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("strongest(resources) / max(weakest(resources), 0.05 * mean(cost))", [5, 2]),
        ("strongest(strength) - weakest(strength)", [20, 8]),
        ("max(strength) - min(strength)", [20, 8]),
        ("mean(abs(strength - 10))", [10, 5]),
        ("sum(strength > 9)", [3, 0]),
        ("duration if mean(cost) > 3 else 0", [7, 8]),
        ("where(duration > 7.5, 1, -1)", [-1, 1]),
        ("clip(max(resources), 0, 6) ** 2", [25, 36]),
        ("not (duration > 7.5) or 0", [1, 0]),
        ("-duration + 2 % 2", [-7, -8]),
        ("sqrt(4) + log1p(0) + exp(0)", [3, 3]),
        ("1 < duration <= 7", [1, 0]),
        ("2 × duration − 1 · 4 ÷ 2", [12, 14]),
    ],
)
def test_a_formula_computes_what_it_says(text: str, expected: list[float]) -> None:
    found = parse(text, TEAM, {"duration"}).evaluate(VALUES)
    np.testing.assert_allclose(np.broadcast_to(found, 2), expected)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("strength", "one number for each team"),
        ("max(strength, 1)", "one number for each team"),
        ("strength.tofile('x')", "a dot|functions"),
        ("strength[0]", "square brackets"),
        ("__import__('os')", "not known|ordinary numbers"),
        ("(lambda: 1)()", "functions"),
        ("'x' * 10", "ordinary numbers"),
        ("2 ** strength", "only use \\*\\*"),
        ("2 ** 9999", "only use \\*\\*"),
        ("mean(strength, axis=0)", "plain arguments"),
        ("mean(*strength)", "plain arguments"),
        ("[x for x in strength]", "a loop"),
        ("strengt + 1", "not known. Known: cost"),
        ("mean(3)", "already one number"),
        ("clip(1)", "it takes 3"),
        ("1 +", "cannot be read"),
        ("1 if 2", "cannot be read"),
        ("True and x", "write 1"),
        ("1e400", "ordinary numbers"),
        ("x := 3", "cannot be read"),
        ("0x" + "f" * 400, "ordinary numbers"),
        ("1" + "+1" * 300, "500 is the most"),
        ("(" * 60 + "1" + ")" * 60 + "+ -" + "-" * 100 + "1", "together|cannot be read"),
        ("strength @ strength", "operator"),
        ("1 is 1", "comparison"),
        ("abs(" * 21 + "cost" + ")" * 21, "nested more than 20 deep"),
        ("+".join(["1"] * 102), "strings more than 100 operations together"),
        ("1j", "ordinary numbers"),
    ],
)
def test_what_is_not_allowed_is_refused_with_a_sentence(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words) as error:
        parse(text, TEAM, {"duration"})
    assert error.value.problems[0].place == "formula"


@pytest.mark.parametrize("sign", ["+", "-", "*", "/"])
@pytest.mark.parametrize("part", ["x", "(a+b)", "(a*b)"])
def test_a_long_sum_or_product_is_not_deep_and_computes_what_it_says(sign: str, part: str) -> None:
    many = min(100, (LONGEST + 1) // (len(part) + 1))
    text = sign.join([part] * many)
    values = {"x": np.array([2.0]), "a": np.array([1.5]), "b": np.array([0.5])}
    formula = parse(text, frozenset(), set(values))
    plain = eval(text, {name: float(column[0]) for name, column in values.items()})  # noqa: S307
    assert formula.evaluate(values) == plain
    apart = Apart(text, frozenset(), set(values), 1)
    assert apart.value(np.array([float(term.of(values)) for term in apart.terms])) == pytest.approx(plain)


@pytest.mark.parametrize("text", ["1", "2 * 3 - 6", "max(1, 2)"])
def test_a_goal_is_no_number_that_is_the_same_for_all(text: str) -> None:
    assert parse(text, TEAM).degree == FIXED, "a condition or a reward may be"
    with pytest.raises(ConfigError, match="the same number for all, so none is better than another"):
        goal(text, TEAM)
    assert goal("strongest(cost)", TEAM).names == {"cost"}


@pytest.mark.parametrize(
    "text", ["await 1", "(yield)", "(yield from cost)", "{1}", "{x for x in cost}", "(x for x in 1)"]
)
def test_whatever_python_has_an_expression_for_is_called_by_a_name(text: str) -> None:
    with pytest.raises(ConfigError, match="is not allowed") as caught:
        parse(text, TEAM)
    assert "something" not in str(caught.value.problems)
    every = {each for each in vars(ast).values() if isinstance(each, type) and issubclass(each, ast.expr)}
    every -= set(ast.Constant.__subclasses__())  # earlier names of it
    handled = {each for each in every if hasattr(_Checker, f"_{each.__name__.lower()}")}
    assert every - handled - {ast.expr} <= set(REFUSED)


def test_true_and_false_are_no_numbers() -> None:
    for text, number in (("True", 1), ("mean(cost) * False", 0), ("mean(cost) ** True", 1)):
        with pytest.raises(ConfigError) as caught:
            parse(text, TEAM)
        assert f"which is not a number; write {number}" in str(caught.value.problems)


def test_division_by_zero_gives_no_number_and_no_exception() -> None:
    found = parse("1 / (mean(cost) - 10)", TEAM).evaluate(VALUES)
    assert not np.isfinite(found).any()


@given(text=st.text(max_size=60))
@settings(max_examples=500, deadline=None)
def test_any_text_is_a_formula_or_a_clear_error(text: str) -> None:
    with contextlib.suppress(ConfigError):  # anything else that is raised is a failure
        parse(text, TEAM, {"duration"}).evaluate(VALUES)


ATOM = st.sampled_from(["mean(cost)", "duration", "max(strength)", "2", "0.5", "weakest(resources)"])
EXPRESSION = st.recursive(
    ATOM, lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from("+-*"), inner), max_leaves=8
)


@given(text=EXPRESSION)
@settings(max_examples=200, deadline=None)
def test_arithmetic_agrees_with_python_s(text: str) -> None:
    plain = {"mean(cost)": 10.0, "duration": 7.0, "max(strength)": 30.0, "weakest(resources)": 1.0}
    expected = text
    for name, value in plain.items():
        expected = expected.replace(name, str(value))
    found = np.broadcast_to(parse(text, TEAM, {"duration"}).evaluate(VALUES), 2)[0]
    assert found == pytest.approx(eval(expected))  # noqa: S307 - the test wrote this text itself


def test_threads_read_formulas_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two at once end with SystemError in Python 3.11."""
    reading, most, real = 0, 0, ast.parse

    def slow(*args: Any, **kwargs: Any) -> Any:
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        time.sleep(0.02)
        reading -= 1
        return real(*args, **kwargs)

    monkeypatch.setattr(ast, "parse", slow)
    with ThreadPoolExecutor(4) as threads:
        trees = list(threads.map(read, ["1 + 2"] * 4))
    assert [ast.unparse(tree) for tree in trees] == ["1 + 2"] * 4
    assert most == 1
