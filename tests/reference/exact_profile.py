"""δ(ε) of the Dirichlet mechanism as two incomplete beta functions in ball arithmetic, with as many digits as it takes."""

from __future__ import annotations

from flint import arb, ctx


def exact_delta(epsilon: float, a: arb | float, h: arb | float, digits: int = 60) -> arb:
    """A ball around δ(ε) = I_v(a, a+h) - e^ε I_v(a+h, a) that is good to so many digits; a and h are exact."""
    bits = int(3.33 * digits) + 64
    while True:
        with ctx.workprec(bits):
            e, a, h = arb(epsilon), arb(a), arb(h)
            v = 1 / (1 + (e / h).exp())
            delta = v.beta_lower(a, a + h, 1) - e.exp() * v.beta_lower(a + h, a, 1)
            if delta.is_finite() and delta > 0 and delta.rel_accuracy_bits() > 3.33 * digits:
                return delta
        bits *= 2


def profile_parameters(floor: float, concentration: float, shift: float) -> tuple[arb, arb]:
    """kη and ks, without rounding."""
    with ctx.workprec(400):
        return arb(concentration) * arb(floor), arb(concentration) * arb(shift)
