"""δ(ε) of the Dirichlet mechanism as two incomplete beta functions in ball arithmetic, with 60 digits and more."""

from __future__ import annotations

from flint import arb, ctx


def exact_delta(epsilon: float, a: arb | float, h: arb | float) -> arb:
    """A ball around δ(ε) = I_v(a, a+h) - e^ε I_v(a+h, a), good to 20 digits after all cancellation; a, h are exact."""
    for bits in (200, 400, 800, 1600):
        with ctx.workprec(bits):
            e, a, h = arb(epsilon), arb(a), arb(h)
            v = 1 / (1 + (e / h).exp())
            delta = v.beta_lower(a, a + h, 1) - e.exp() * v.beta_lower(a + h, a, 1)
            if delta.is_finite() and delta > 0 and delta.rel_accuracy_bits() > 66:
                return delta
    raise AssertionError(f"no reference value for ε = {epsilon}, a = {a}, h = {h}")


def profile_parameters(floor: float, concentration: float, shift: float) -> tuple[arb, arb]:
    """kη and ks, without rounding."""
    with ctx.workprec(400):
        return arb(concentration) * arb(floor), arb(concentration) * arb(shift)
