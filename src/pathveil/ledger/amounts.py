"""Amounts of ε and δ as exact decimals.

The number that people write is the number that counts: 0.1 is one tenth, although the nearest binary fraction is not.
Sums are exact or fail, so ten charges of 0.1 fill a budget of 1 to the brim, and an eleventh never slips in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow
from typing import Any

from pathveil.errors import InvalidParameterError

# Amounts span 1e-400 to 1e400, so that their sums have fewer than 900 digits. `Inexact` is trapped: a sum
# that would not fit raises instead of losing budget.
_MOST_DIGITS = 60  # of one amount: a float's 17, times a number of steps, or 40 of a converted δ
_EXACT = Context(prec=1000, traps=[Inexact, InvalidOperation, DivisionByZero, Overflow])


@dataclass(frozen=True)
class Amount:
    """ε and δ together, exact."""

    epsilon: Decimal
    delta: Decimal

    def plus(self, other: Amount) -> Amount:
        return Amount(_EXACT.add(self.epsilon, other.epsilon), _EXACT.add(self.delta, other.delta))

    def minus(self, other: Amount) -> Amount:
        return Amount(_EXACT.subtract(self.epsilon, other.epsilon), _EXACT.subtract(self.delta, other.delta))

    def times(self, count: int) -> Amount:
        return Amount(_EXACT.multiply(self.epsilon, Decimal(count)), _EXACT.multiply(self.delta, Decimal(count)))

    def beyond(self, other: Amount) -> Amount:
        """How much more this is than the other, where it is more; 0 where it is not."""
        excess = self.minus(other)
        return Amount(max(excess.epsilon, Decimal(0)), max(excess.delta, Decimal(0)))

    def fits_in(self, other: Amount) -> bool:
        return self.epsilon <= other.epsilon and self.delta <= other.delta

    def to_dict(self) -> dict[str, float]:
        """The nearest floats, for JSON; decisions are never made with these."""
        return {"epsilon": float(self.epsilon), "delta": float(self.delta)}

    def __str__(self) -> str:
        return f"ε = {decimal_text(self.epsilon)}, δ = {decimal_text(self.delta)}"


NOTHING = Amount(Decimal(0), Decimal(0))


def amount_of(epsilon: float, delta: float, what: str) -> Amount:
    """The decimals that a person reads when these floats are printed: ε ≥ 0 and 0 ≤ δ < 1, or an error.

    >>> print(amount_of(0.1, 1e-7, "a release"))
    ε = 0.1, δ = 1e-7
    """
    exact = Amount(_decimal(epsilon, f"epsilon of {what}"), _decimal(delta, f"delta of {what}"))
    if exact.delta >= 1:
        raise InvalidParameterError(
            f"delta of {what} is {delta}: a δ of 1 or more promises nothing; it must be below 1"
        )
    return exact


def _decimal(value: float, name: str) -> Decimal:
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number < math.inf:
        raise InvalidParameterError(f"{name} is {value!r}: it must be a finite number of at least 0")
    return Decimal(repr(number)).normalize(_EXACT) + 0  # + 0 makes -0.0 a plain zero


def amount_written(content: Mapping[str, Any]) -> Amount:
    """The amount in an entry of a ledger; a ValueError or an ArithmeticError for one that no ledger of ours has."""
    epsilon, delta = Decimal(content["epsilon"]), Decimal(content["delta"])
    for number in (epsilon, delta):
        # A negative amount would give budget back, one with more digits than we write could not be added up exactly.
        digits = len(number.as_tuple().digits)
        if not number.is_finite() or number < 0 or digits > _MOST_DIGITS or abs(number.adjusted()) > 400:
            raise ValueError(f"{number} is no amount")
    return Amount(epsilon, delta)


def decimal_text(number: Decimal) -> str:
    """All digits, without needless zeros; with an exponent only where it is far from 1."""
    if number and not -7 < number.adjusted() < 16:
        return str(number.normalize(_EXACT)).lower()
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
