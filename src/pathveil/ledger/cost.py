"""What a release costs in the unit of a budget.

The promise of a release speaks of its own unit. If that covers the budget's unit, the release costs what it promises.
If the budget's unit is j steps away, the losses along the chain add up: (ε, δ) for one step is

    (jε, δ (e^(jε) - 1) / (e^ε - 1))        for j steps.

A certified mechanism may know its loss at a distance better than any chain does, or where there is no chain; the
smaller of the two counts. (docs/ledger.md, "One budget, one unit")
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from math import inf
from typing import TypedDict

from pathveil.errors import InvalidParameterError, UnitMismatchError
from pathveil.ledger.amounts import Amount, amount_of, decimal_text
from pathveil.privacy.guarantee import Guarantee
from pathveil.privacy.units import (
    Edits,
    Episode,
    Known,
    Person,
    Route,
    SameLength,
    Step,
    Symbols,
    Transition,
    Unit,
    User,
    Word,
)

LossAt = Callable[[int], float]

_DIGITS = 40  # of a converted δ, rounded up
_LARGEST_EXPONENT = 1000  # e^1000 times any δ is more than 1
_SIGNIFICANT = 17  # digits of a loss that a mechanism computed, rounded up


class Circumstances(TypedDict, total=False):
    """What the price of a release depends on beside its guarantee: the keyword arguments of `Ledger.price`."""

    longest: int | None
    user: str | None
    words_per_user: int | None
    loss_at: LossAt | None


@dataclass(frozen=True)
class Cost:
    """An amount in the unit of a budget, and a sentence that says how it comes about."""

    amount: Amount
    explanation: str


def cost_in(unit: Unit, guarantee: Guarantee, known: Known | None = None, loss_at: LossAt | None = None) -> Cost:
    """What a release with this guarantee costs in this unit, or a `UnitMismatchError` that says why it has no cost.

    `loss_at(d)`: the mechanism's own bound on the loss between words that are d symbols (or edits) apart.

    >>> import pathveil as pv
    >>> promise = pv.PermuteAndFlip(pv.Alphabet("abc"), epsilon=2.0).guarantee
    >>> print(cost_in(pv.units.SameLength(), promise, Known(longest=3)).explanation)
    ε = 2 for one symbol: 6 in this budget's unit, a word of the same length, at most 3 symbols (3 steps)
    """
    known = known or Known()
    own = amount_of(guarantee.epsilon, guarantee.delta, "the guarantee")
    route = guarantee.protects.route_to(unit, known)
    found = [cost for cost in (_by_steps(own, route), _by_certificate(own, route, loss_at)) if cost is not None]
    if not found:
        raise UnitMismatchError(
            f"a promise among feasible words for {guarantee.protects.short} reaches {unit.short} only by what the "
            "mechanism itself can prove. Release with a mechanism that promises among all words, or charge with the "
            "loss that this one states."
        )
    amount, how = min(found, key=lambda cost: cost[0].epsilon)
    if amount.delta >= 1:
        raise UnitMismatchError(
            f"δ = {decimal_text(own.delta)} for {guarantee.protects.short} becomes more than 1 in this budget's unit, "
            f"{unit.short} ({how}): that promises nothing. Choose a smaller δ, or δ = 0."
        )
    return Cost(amount, _explained(own, amount, guarantee.protects, unit, known, how))


def _by_steps(own: Amount, route: Route) -> tuple[Amount, str] | None:
    if route.steps is None:
        return None
    steps = route.steps * route.words
    if steps == 1:
        return own, "covered"
    how = f"{steps} steps"
    if route.words > 1:
        how = f"{route.words} words of a person" + (f", {route.steps} steps each" if route.steps > 1 else "")
    return Amount(own.times(steps).epsilon, _delta_after(own, steps)), how


def _delta_after(own: Amount, steps: int) -> Decimal:
    """δ (e^(jε) - 1) / (e^ε - 1), rounded up; jδ at ε = 0."""
    if not own.delta:
        return own.delta
    if not own.epsilon:
        return own.times(steps).delta
    if own.epsilon * steps > _LARGEST_EXPONENT:
        return Decimal(1)
    # The quotient is a sum of j terms of at least 1; more digits than a tiny ε loses in the differences.
    with localcontext(Context(prec=_DIGITS + 20 + max(0, -own.epsilon.adjusted()))):
        found = own.delta * ((own.epsilon * steps).exp() - 1) / (own.epsilon.exp() - 1)
        above = found * (1 + Decimal(10) ** -(_DIGITS + 5))  # more than the roundings so far can be off
    return Context(prec=_DIGITS, rounding=ROUND_CEILING).plus(above)


def _by_certificate(own: Amount, route: Route, loss_at: LossAt | None) -> tuple[Amount, str] | None:
    """The mechanism's own bound for one word, once for each word of a person."""
    if loss_at is None or route.distance is None or own.delta:
        return None
    stated = float(loss_at(route.distance))
    if not 0 <= stated < inf:
        raise InvalidParameterError(f"`loss_at({route.distance})` is {stated}: a loss is a finite number of at least 0")
    loss = Context(prec=_SIGNIFICANT, rounding=ROUND_CEILING).plus(Decimal(stated))
    times = "" if route.words == 1 else f", {route.words} words of a person"
    return Amount(loss, Decimal(0)).times(route.words), f"loss at a distance of {route.distance}{times}"


def _explained(own: Amount, amount: Amount, unit: Unit, budget: Unit, known: Known, how: str) -> str:
    delta = f", δ = {decimal_text(own.delta)}," if own.delta else ""
    charged = decimal_text(amount.epsilon) + (f", δ = {decimal_text(amount.delta)}," if amount.delta else "")
    all_symbols = isinstance(budget.one_word if isinstance(budget, Person) else budget, SameLength)
    by_length = known.longest is not None and all_symbols
    longest = f", at most {known.longest} symbols" if by_length else ""
    public = ""
    if isinstance(budget, Person) and not isinstance(unit, Person):
        public = "; how many words a person has is public"
    return (
        f"ε = {decimal_text(own.epsilon)}{delta} for {unit.short}: {charged} in this budget's unit, "
        f"{budget.short}{longest} ({how}{public})"
    )


def buys(unit: Unit, left: Amount) -> list[tuple[str, Decimal]]:
    """Examples of what could still be released: (what a release protects by itself, the largest ε it may have).

    Where the length of words matters and the budget does not name one, words have ten symbols.
    """
    longest = (unit.max_length if isinstance(unit, Word | User) else None) or 10
    adjacency = unit.adjacency if isinstance(unit, Symbols) else 1
    releases: dict[str, tuple[Unit, Known]] = {
        f"{of.short}, words of up to {longest} symbols": (of, Known(longest=longest))
        for of in (Symbols(1), Symbols(adjacency))
    }
    releases[Edits(1, 1, longest).short] = Edits(1, 1, longest), Known()
    people = [User(neighbours=unit.neighbours)] if isinstance(unit, User) else []
    steps = [type(unit)(unit.neighbours)] if isinstance(unit, Step | Episode) else []
    for model in (Word(), *people, Transition(), *steps):
        releases[f"{model.short} (a model)"] = model, Known()
    rounded_down = Context(prec=6, rounding=ROUND_FLOOR)
    found = []
    for what, (release, known) in releases.items():
        try:
            route = release.route_to(unit, known)
        except UnitMismatchError:
            continue
        if route.steps is not None:
            found.append((what, rounded_down.divide(left.epsilon, Decimal(route.steps * route.words))))
    return found
