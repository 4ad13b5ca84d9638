"""How many equal releases fit into a budget, by the best bound there is.

Whatever an (ε₀, δ₀)-private release tells about a change of one unit can be imitated by a three-way coin: with
probability δ₀ it tells everything; otherwise it is randomized response, with a loss of +ε₀ (probability
p = e^ε₀/(1+e^ε₀)) or -ε₀ (probability q = 1-p). The losses of k releases add up, so that for any ε

    δ(ε) = 1 - (1-δ₀)^k · (1 - Σ_i C(k,i) p^(k-i) q^i max(0, 1 - e^(ε - (k-2i)ε₀)))

and no bound that knows only (ε₀, δ₀) and k can be smaller (Kairouz, Oh and Viswanath, "The composition theorem for
differential privacy", Theorem 3.3). It holds when each mechanism is chosen after seeing earlier outputs, but ε₀, δ₀
and the largest k have to be fixed before: hence a ledger that composes in this way fixes them when it is created.

Everything here is computed with 60 digits and rounded away from too small.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal, localcontext

from pathveil.ledger.amounts import Amount

MOST_RELEASES = 10_000  # the sum has k terms; whoever makes more releases than that is counted by plain addition
_DIGITS = 60
_SAFETY = Decimal("1e-40")  # relative; far above what 10,000 roundings to 60 digits can add up to


def composed_delta(each: Amount, count: int, epsilon: Decimal) -> Decimal:
    """The δ at this ε of `count` releases of at most `each`; never below the exact value.

    >>> each = Amount(Decimal("0.1"), Decimal(0))
    >>> float(composed_delta(each, 100, Decimal(4)))
    3.42...e-05
    """
    with localcontext(Context(prec=_DIGITS)) as context:
        growth = each.epsilon.exp()
        p, q = growth / (1 + growth), 1 / (1 + growth)
        chance = p**count  # C(k,i) p^(k-i) q^i
        spread = Decimal(0)
        for i in range(count + 1):
            loss = (count - 2 * i) * each.epsilon
            if loss <= epsilon:
                break
            spread += chance * (1 - (epsilon - loss).exp())
            chance = chance * (count - i) / (i + 1) * (q / p)
        spread = min(spread * (1 + _SAFETY), Decimal(1))
        # 1 - (1-δ₀)^k·(1 - spread), arranged so that a tiny δ is not lost in a difference of ones.
        told = _one_minus_power(each.delta, count) if each.delta else Decimal(0)
        context.rounding = ROUND_CEILING
        return min((told + (1 - told) * spread) * (1 + _SAFETY), Decimal(1))


def releases_that_fit(each: Amount, total: Amount) -> int:
    """The largest number of releases of at most `each` that are together as private as `total` says.

    At least as many as plain addition allows.

    >>> each, total = Amount(Decimal("0.1"), Decimal(0)), Amount(Decimal(4), Decimal("1e-5"))
    >>> releases_that_fit(each, total)
    88
    """
    by_addition = _most_by_addition(each, total)

    def fits(count: int) -> bool:
        return composed_delta(each, count, total.epsilon) <= total.delta

    low = min(by_addition, MOST_RELEASES)
    high = min(2 * low + 1, MOST_RELEASES + 1)
    while high <= MOST_RELEASES and fits(high):
        low, high = high, min(2 * high, MOST_RELEASES + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return max(by_addition, low)


def _most_by_addition(each: Amount, total: Amount) -> int:
    most = int(total.epsilon / each.epsilon) + 1
    if each.delta:
        most = min(most, int(total.delta / each.delta) + 1)
    while not each.times(most).fits_in(total):
        most -= 1
    return most


def _one_minus_power(delta: Decimal, count: int) -> Decimal:
    """1 - (1-δ)^k to 60 digits of its own: as many more are kept as δ has zeros in front."""
    with localcontext(Context(prec=_DIGITS - delta.adjusted())):
        return 1 - (1 - delta) ** count
