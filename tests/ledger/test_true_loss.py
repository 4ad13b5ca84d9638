"""What the ledger says is spent is never less than the true loss in its unit, whatever was released in which order."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from hypothesis import strategies as st

import pathveil as pv
from pathveil.privacy.units import Edits, SameLength, Symbols, Unit, User, UserSymbols, Word
from tests.reference.composed_loss import ModelRelease, WordRelease
from tests.reference.neighbours import Input, all_words, compares
from tests.sizes import given_few_and_many

LONGEST = 3
WORLDS: dict[str, Callable[[], pv.System]] = {
    "free": lambda: pv.Alphabet("ab"),
    "chain": lambda: pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "b"), ("b", "c"), ("c", "a")]),
}
STATES = {"free": "ab", "chain": "abc"}

WIDER: list[Unit] = [
    Symbols(1),
    Symbols(2),
    Symbols(3),
    SameLength(),
    Edits(2, 1, LONGEST),
    Word(LONGEST),
    UserSymbols(2),
    UserSymbols(2, 1),
    User(2, LONGEST),
]

EPSILONS = (0.25, 1.0, 3.0)
HAMMING = (pv.PermuteAndFlip, pv.Exponential, pv.CertifiedExponential, pv.Online)
EDITS = (pv.EditPermuteAndFlip, pv.EditExponential, pv.CertifiedEditExponential)
KINDS = [
    *(("hamming", kind, b) for kind in HAMMING for b in (1, 2, 3)),
    *(("inverse", pv.Exponential, b) for b in (1, 2)),
    *(("edits", kind, b) for kind in EDITS for b in (1, 2)),
    *(("capped", kind, 1) for kind in EDITS),
    ("narrow", pv.EditExponential, 1),
    *(("model", "word", cut) for cut in (2, 3, 5)),
    ("model", "symbol", None),
]


@dataclass(frozen=True)
class Release:
    """A release, and what a ledger has to know to put a price on it."""

    guarantee: pv.Guarantee
    accepts: frozenset[str]
    loss: Callable[[Input, Input], float]
    longest: int | None
    loss_at: Callable[[int], float] | None


@cache
def made(world: str, kind: tuple, epsilon: float) -> Release:
    system, words = WORLDS[world](), all_words(STATES[world], LONGEST)
    family, how, b = kind
    if family == "model":
        release = ModelRelease(STATES[world], epsilon, how, b, words)
        return Release(release.guarantee, frozenset(words), release.loss, LONGEST if how == "symbol" else None, None)
    if family in ("hamming", "inverse"):
        options = {"utility": pv.InverseUtility(alpha=1.0)} if family == "inverse" else {}
        mechanism, longest = how(system, epsilon, b, **options), LONGEST
    else:
        lengths = (2, 3) if family == "narrow" else (1, LONGEST)
        cap = 1 if family == "capped" else None
        mechanism, longest = how(system, epsilon, b, lengths=lengths, cap=cap), None
    release = WordRelease(mechanism, words)
    lengths = sorted({len(w) for w in release.accepts})
    return Release(
        mechanism.guarantee,
        frozenset(release.accepts),
        release.loss,
        longest,
        lambda distance: mechanism.loss_at(distance, lengths),
    )


@cache
def pairs(world: str, unit: Unit) -> list[tuple[Input, Input]]:
    """All pairs of inputs that a unit compares: one person with one word, for units of persons also with two."""
    words = all_words(STATES[world], LONGEST)
    people: list[tuple[str, ...]] = [(w,) for w in words]
    if isinstance(unit, User | UserSymbols):
        people += product(all_words(STATES[world], 2), repeat=2)
    inputs = [(person,) for person in people]
    # How many words a person has is public where each word is released by itself.
    return [
        (one, other)
        for one, other in product(inputs, repeat=2)
        if len(one[0]) == len(other[0]) and one < other and compares(unit, one, other)
    ]


def true_loss(world: str, unit: Unit, releases: list[Release]) -> float:
    """The largest composed loss over all pairs of inputs that every release accepts."""
    possible = frozenset.intersection(*(release.accepts for release in releases))
    return max(
        (
            sum(release.loss(one, other) for release in releases)
            for one, other in pairs(world, unit)
            if all(word in possible for data in (one, other) for person in data for word in person)
        ),
        default=0.0,
    )


@given_few_and_many(
    50,
    200,
    world=st.sampled_from(list(WORLDS)),
    unit=st.sampled_from(WIDER),
    plan=st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(EPSILONS)), min_size=1, max_size=5),
)
def test_the_true_composed_loss_never_exceeds_what_the_ledger_says_is_spent(world, unit, plan):
    accepted = []
    with tempfile.TemporaryDirectory() as folder:
        ledger = pv.Ledger.create(Path(folder) / "budget.db", 1000.0, unit=unit)
        for kind, epsilon in plan:
            release = made(world, kind, epsilon)
            try:
                ledger.charge(
                    release.guarantee, command="c", request="r", longest=release.longest, loss_at=release.loss_at
                )
            except pv.UnitMismatchError:
                continue
            accepted.append(release)
        spent = float(ledger.spent.epsilon)
    if accepted:
        assert true_loss(world, unit, accepted) <= spent * (1 + 1e-9)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("unit", WIDER, ids=str)
def test_every_release_by_itself_costs_at_least_its_true_loss_in_every_unit(world, unit, tmp_path):
    ledger = pv.Ledger.create(tmp_path / "budget.db", 1000.0, unit=unit)
    priced = 0
    for kind in KINDS:
        release = made(world, kind, 1.0)
        try:
            cost = ledger.price(release.guarantee, longest=release.longest, loss_at=release.loss_at)
        except pv.UnitMismatchError:
            continue
        assert true_loss(world, unit, [release]) <= float(cost.amount.epsilon) * (1 + 1e-9), kind
        priced += 1
    assert priced


def test_a_release_that_publishes_lengths_has_infinite_loss_where_lengths_are_protected():
    """The control: what the ledger refuses could not have been paid for with any budget."""
    release = made("free", ("hamming", pv.PermuteAndFlip, 1), 1.0)
    assert true_loss("free", Word(LONGEST), [release]) == float("inf")


def nested_releases() -> list[pv.Guarantee]:
    """Nineteen promises with ε = 1 about one file that a comparison of texts took for nineteen units."""
    system = pv.Alphabet("ab")
    listed = [pv.PermuteAndFlip(system, 1.0, b).guarantee for b in range(1, 6)]
    listed += [pv.EditExponential(system, 1.0, 1, lengths=(lo, 5)).guarantee for lo in range(1, 6)]
    listed += [pv.EditExponential(system, 1.0, 1, lengths=(1, 6)).guarantee]
    for cut in range(5, 13):
        fitted = pv.fit_private_chain(
            words=["ab"], states="ab", epsilon=1.0, mechanism="laplace", unit="word", max_length=cut,
            rng=pv.insecure_seed(1),
        )  # fmt: skip
        listed.append(fitted.guarantee)
    return listed


def test_of_nineteen_nested_releases_at_epsilon_one_a_budget_of_one_takes_one(tmp_path):
    promises = nested_releases()
    assert len(promises) == 19
    for number, first in enumerate(promises):
        ledger = pv.Ledger.create(tmp_path / f"{number}.db", 1.0, unit=Symbols(1))
        ledger.charge(first, command="c", request="r")
        for other in promises:
            with pytest.raises(pv.BudgetExceededError):
                ledger.charge(other, command="c", request="r")


def test_nested_releases_do_add_up():
    """The control: had each unit a budget of its own, a true loss of more than 2 would have passed a budget of 1."""
    releases = [made("free", kind, 1.0) for kind in KINDS if kind[0] in ("hamming", "edits")]
    assert true_loss("free", Symbols(1), releases) > 2
