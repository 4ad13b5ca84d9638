"""Units of decision processes and matrices, against data sets that are listed; guarantees that were in a file."""

from __future__ import annotations

import json
from itertools import combinations_with_replacement, product

import pytest

import pathveil as pv
from pathveil.privacy.guarantee import Guarantee
from pathveil.privacy.units import (
    Edits,
    Episode,
    Exchange,
    Mass,
    MovedSymbols,
    Step,
    Symbols,
    Transition,
    Unit,
    User,
    Word,
)

# A step has a source and a destination. All data sets of up to two episodes of up to two steps.
STEPS = [(source, destination) for source in "ab" for destination in (0, 1)]
EPISODES = [episode for length in (1, 2) for episode in product(STEPS, repeat=length)]
INPUTS = [tuple(sorted(some)) for count in range(3) for some in combinations_with_replacement(EPISODES, count)]
UNITS = [Transition(), Step(), Step("add-remove"), Episode(), Episode("add-remove")]


def changed(unit: Unit, given: tuple) -> set[tuple]:
    """All data sets that the unit compares with this one."""
    found = set()
    for i, episode in enumerate(given):
        others = given[:i] + given[i + 1 :]
        if isinstance(unit, Episode):
            found |= {others} if unit.neighbours == "add-remove" else {(*others, one) for one in EPISODES}
            continue
        for k, (source, destination) in enumerate(episode):
            before, after = episode[:k], episode[k + 1 :]
            if isinstance(unit, Transition):
                found.add((*others, (*before, (source, 1 - destination), *after)))
            elif unit.neighbours == "replace":
                found |= {(*others, (*before, step, *after)) for step in STEPS}
            else:
                found.add((*others, (*before, *after)) if before or after else others)
    if isinstance(unit, Episode) and unit.neighbours == "add-remove":
        found |= {(*given, one) for one in EPISODES}
    if isinstance(unit, Step) and unit.neighbours == "add-remove":
        found |= {(*given, (step,)) for step in STEPS}
        for i, episode in enumerate(given):
            others = given[:i] + given[i + 1 :]
            found |= {(*others, (*episode[:k], step, *episode[k:])) for step in STEPS for k in range(len(episode) + 1)}
    listed = {tuple(sorted(one)) for one in found} - {given}
    return {one for one in listed if one in KNOWN}


KNOWN = set(INPUTS)
NEAR = {unit: {given: changed(unit, given) for given in INPUTS} for unit in UNITS}


def distance(unit: Unit, start: tuple, end: tuple, most: int) -> int | None:
    reached = {start}
    for step in range(1, most + 1):
        reached |= {other for one in reached for other in NEAR[unit][one]}
        if end in reached:
            return step
    return None


ROUTES = {
    (Step(), Transition()): 1, (Step("add-remove"), Transition()): 2, (Step("add-remove"), Step()): 2,
    (Episode(), Transition()): 1, (Episode(), Step()): 1, (Episode("add-remove"), Transition()): 2,
    (Episode("add-remove"), Step()): 2, (Episode("add-remove"), Step("add-remove")): 2,
    (Episode("add-remove"), Episode()): 2,
    **{(unit, unit): 1 for unit in UNITS},
}  # fmt: skip


@pytest.mark.parametrize(("unit", "wider", "steps"), [(*pair, steps) for pair, steps in ROUTES.items()], ids=str)
def test_a_route_between_steps_and_episodes_can_be_walked_and_takes_no_more_than_it_must(unit, wider, steps):
    pairs = [(one, other) for one in INPUTS[::7] for other in sorted(NEAR[wider][one])[::5]]
    assert unit.route_to(wider).steps == steps
    needed = [distance(unit, *pair, steps) for pair in pairs]
    assert None not in needed
    assert max(needed) == steps


def test_there_are_no_other_routes_between_steps_and_episodes():
    for unit, wider in product(UNITS, UNITS):
        if (unit, wider) not in ROUTES:
            with pytest.raises(pv.UnitMismatchError):
                unit.route_to(wider)


def test_masses_and_exchanges_cover_smaller_ones_of_their_kind_only():
    large, small = (0.2, 0.1)
    for amount, rows, symmetric in product((large, small), (2, 3), (False, True)):
        unit = Exchange(amount, rows, symmetric)
        for other in (Exchange(*how) for how in product((large, small), (2, 3), (False, True))):
            if amount >= other.amount and rows >= other.rows and symmetric == other.symmetric:
                assert unit.route_to(other).steps == 1
            else:
                with pytest.raises(pv.UnitMismatchError):
                    unit.route_to(other)
    for (amount, every), (less, each) in product(product((large, small), (False, True)), repeat=2):
        if amount >= less and every >= each:
            assert Mass(amount, every).route_to(Mass(less, each)).steps == 1
        else:
            with pytest.raises(pv.UnitMismatchError):
                Mass(amount, every).route_to(Mass(less, each))
    for wrong in (0.0, -0.1, 1.1, True, "0.1", float("nan")):
        with pytest.raises(pv.InvalidParameterError, match="mass is above 0"):
            Exchange(wrong)
    assert Mass(1).amount == Exchange(1, 2).amount == 1
    with pytest.raises(pv.InvalidParameterError, match="rows"):
        Exchange(0.1, 0)


def test_units_say_what_they_are_when_nothing_else_is_said():
    assert (Symbols().adjacency, Symbols().feasible, Exchange(0.1).rows, Exchange(0.1).symmetric) == (
        1,
        False,
        2,
        False,
    )
    assert (Word().max_length, Word().neighbours, Step().neighbours, Episode().neighbours) == (None, *["replace"] * 3)
    assert Mass(0.1).every_row is False
    texts = {
        Symbols(): "one symbol", MovedSymbols(1, 500.0, "m"): "one symbol moved by at most 500",
        MovedSymbols(2, 0.5, "m"): "2 symbols each moved by at most 0.5",
        User(): "all words of a person", User(2, 7): "all words of a person, at most 2, each of at most 7 symbols",
        User(2): "all words of a person, at most 2", User(None, 7): "all words of a person, each of at most 7 symbols",
        Edits(1, 2, 9): "one edit in a word of 2 to 9 symbols", Word(7): "a word of at most 7 symbols",
        Exchange(0.1, 3): "an exchange of 0.1 between 3 rows of a doubly stochastic matrix",
        Exchange(0.1, 2, True): "a change of 0.1 in one edge of a symmetric doubly stochastic matrix",
        Mass(0.1, True): "mass of 0.1 moved within every row of a matrix",
        Mass(0.1): "mass of 0.1 moved within one row",
    }  # fmt: skip
    for unit, text in texts.items():
        assert str(unit).startswith(text)
    assert "None" not in "".join(map(str, texts))


PROMISE = Guarantee(1.5, 1e-6, "a word", ("the lengths",), "a mechanism", "exactly", True, protects=Symbols(2))


def test_a_guarantee_comes_back_from_its_file_and_an_edited_one_does_not():
    content = json.loads(json.dumps(PROMISE.to_dict()))
    assert Guarantee.from_dict(content) == PROMISE
    assert Guarantee.from_dict({**content, "epsilon": 0, "delta": 0.0, "seeded": False}).epsilon == 0
    for name, values in {
        "epsilon": (True, "1", None, -0.1, float("inf"), float("nan"), [1.0]), "delta": (False, "0", None, -1e-9),
        "unit": ("", 7, None), "public": ("text", None, [""], [7]), "mechanism": ("", None), "sampling": ("", 1),
        "seeded": (0, 1, None, "yes"), "protects": (None, "symbols", {}, {"kind": "wish"}, [1]),
    }.items():  # fmt: skip
        for value in values:
            with pytest.raises((KeyError, TypeError, ValueError, pv.PathVeilError)):
                Guarantee.from_dict({**content, name: value})
        with pytest.raises(KeyError):
            Guarantee.from_dict({key: part for key, part in content.items() if key != name})


def test_a_guarantee_names_its_delta_and_its_seed_where_there_are_any():
    assert "but for a probability of δ = 1e-06" in str(PROMISE)
    assert "NOT private against whoever knows the seed" in str(PROMISE)
    pure = Guarantee(1.5, 0.0, "a word", ("the lengths",), "a mechanism", "exactly", protects=Symbols())
    assert "δ" not in str(pure)
    assert "seed" not in str(pure)
    assert pure.seeded is False
