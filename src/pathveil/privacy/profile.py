"""How private a draw x ~ Dirichlet(k p) is, exactly. (docs/dirichlet.md has the proof.)

Between neighbours, mass of at most s passes from one entry to another; no entry is below η, the *floor*. The worst such
pair has both entries at the floor, and with a = kη, h = ks and v = 1/(1 + e^(ε/h)) its profile is

    δ(ε) = I_v(a, a+h) - e^ε I_v(a+h, a),        I the regularised incomplete beta function.

The two terms agree in nearly all digits where δ is small against either, and e^ε overflows where δ does not; so we
evaluate the same number as the integral of a positive function over the log-odds u = t + y, t = ε/h:

    δ(ε) = ∫_0^∞ f(t + y) (1 - e^(-hy)) dy,      f the density of logit Beta(a+h, a).

With three or more entries some input attains it. With two, whose sum is 1, it is an upper bound.

Searches use a fast evaluation (`hockey_stick.py`). Whatever they find is accepted only if a proven upper bound on δ(ε)
(`enclosed_delta.py`) accepts it, and the δ that is reported is that bound: no rounding error makes a promise too small.

MCM (Theorem 1) and MDM (Theorem 1) bound the same mechanism by way of a cut-off γ and lose a factor of 4 to 12 in ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidParameterError, UnreachablePrivacyError
from pathveil.numerics.arrays import FloatArray
from pathveil.numerics.balls import Balls
from pathveil.privacy.enclosed_delta import log_delta_bounds
from pathveil.privacy.hockey_stick import log_hockey_sticks

_LARGEST_EPSILON = 1e5  # beyond, the calibration leaves the range of floating point

# What a search leaves as a margin in log δ, so that what it finds passes the proven bound nearly always.
SAFETY = 1e-8
_GUIDES = 32  # with more than twice as many rows, so many are settled first to show the others where to begin


@dataclass(frozen=True)
class DirichletProfile:
    """How private one draw from Dirichlet(k p) is, exactly.

    `floor` is η, the least value that any entry of p may have; `concentration` is k; `shift` is s, the most mass that
    may move between two entries. Replacing one of N records moves s = 1/N of the frequencies.

    >>> import pathveil as pv
    >>> grades = pv.DirichletProfile(floor=0.073, concentration=20.6, shift=1 / 98)
    >>> round(grades.epsilon(0.0026), 3)
    0.629
    """

    floor: float
    concentration: float
    shift: float

    def __post_init__(self) -> None:
        for name in ("floor", "concentration", "shift"):
            _require_positive(getattr(self, name), name)
        _require_room(self.floor, self.shift)

    @property
    def a(self) -> float:
        """The Dirichlet parameter of an entry at the floor, kη."""
        return self.concentration * self.floor

    @property
    def h(self) -> float:
        """How far the Dirichlet parameter of an entry can move, ks."""
        return self.concentration * self.shift

    def delta(self, epsilon: float) -> float:
        """The least δ for which a draw is (ε, δ)-differentially private, rounded up by less than 1e-7 of itself."""
        return exp_above(self.log_delta(epsilon))

    def log_delta(self, epsilon: float) -> float:
        """log δ(ε), rounded up; it stays finite where δ itself would be 0 in floating point."""
        if not 0 <= epsilon < math.inf:
            raise InvalidParameterError(f"epsilon is {epsilon}: it must be a finite number of at least 0")
        k = Balls.exact([self.concentration])
        return log_delta_bounds(np.array([float(epsilon)]), k * self.floor, k * self.shift).item()

    def epsilon(self, delta: float) -> float:
        """The least ε for which a draw is (ε, δ)-differentially private, rounded up."""
        require_probability(delta)
        target, proven = math.log(delta) - SAFETY, log_below(delta)
        if self.log_delta(0.0) <= proven:
            return 0.0
        high = self.h / self.a * math.sqrt(1 + 2 * self.a)  # about the standard deviation of the loss
        while self._near_log_delta(high) > target:
            high *= 2
        found = 0.0
        if self._near_log_delta(0.0) > target:
            found = largest_passing(lambda x: target - self._near_log_delta(x), failing=0.0, passing=high)
        step = 1e-9 * (found or high)
        while self.log_delta(found) > proven:
            found, step = found + step, 2 * step
        return found

    def _near_log_delta(self, epsilon: float) -> float:
        """Fast, and right to many digits, but without proof: for searches only."""
        return log_hockey_sticks(*(np.array([float(x)]) for x in (epsilon, self.a, self.h))).item()

    def renyi(self, alpha: float) -> float:
        """The Rényi divergence of order α of the worst pair, infinite from α = 1 + η/s on; α = 1: Kullback–Leibler.

        Rounded up: D_α = [ln B(a+αh, a+(1-α)h) - ln B(a+h, a)]/(α-1) in ball arithmetic, with ever more digits.
        """
        if not 0 < alpha < math.inf:
            raise InvalidParameterError(f"alpha is {alpha}: the order of a Rényi divergence is a positive number")
        from flint import arb, ctx

        for bits in (128, 256, 512, 1024, 2048, 4096):
            with ctx.workprec(bits):
                k = arb(self.concentration)
                a, h, order = k * self.floor, k * self.shift, arb(alpha)
                if not a > (order - 1) * h:
                    return math.inf
                if alpha == 1:
                    found = h * ((a + h).digamma() - a.digamma())
                else:
                    change = (a + order * h).lgamma() + (a + (1 - order) * h).lgamma() - (a + h).lgamma() - a.lgamma()
                    found = change / (order - 1)
                if found.rel_accuracy_bits() >= 40:
                    return math.nextafter(float(found.upper()), math.inf)
        return math.inf


def exp_above(log_delta: float) -> float:
    """e^x for a logarithm of a probability, rounded up."""
    return min(1.0, Balls.exact([log_delta]).exp().upper.item())


def log_below(delta: float) -> float:
    """log δ, rounded down."""
    return Balls.exact([delta]).log().lower.item()


def log_floor_limit(epsilon: float, floor: float, shift: float) -> float:
    """log δ₀: what log δ(ε) falls to as the noise grows without end (k → 0), s/(2η+s)·e^(-εη/s)."""
    return math.log(shift / (2 * floor + shift)) - epsilon * floor / shift


@lru_cache(maxsize=1024)
def concentration_for(epsilon: float, delta: float, floor: float, shift: float) -> float:
    """The largest concentration k (the least noise) whose profile meets (ε, δ), rounded down.

    Not every promise can be kept at every floor: more noise brings δ no lower than δ₀ = s/(2η+s)·e^(-εη/s). Where that
    is not enough, the error names the smallest floor that would do.
    """
    return concentrations_for(epsilon, delta, np.array([floor]), np.array([shift])).item()


def concentrations_for(epsilon: float, delta: float, floors: FloatArray, shifts: FloatArray) -> FloatArray:
    """`concentration_for` for many rows at once."""
    require_promise(epsilon, delta)
    if not len(floors):
        return floors
    return _proven(epsilon, delta, floors, shifts, np.exp(_search(epsilon, delta, floors, shifts)))


def _search(epsilon: float, delta: float, floors: FloatArray, shifts: FloatArray) -> FloatArray:
    """log k for each row, in plain floating point."""
    target = math.log(delta) - SAFETY
    for floor, shift in zip(floors.tolist(), shifts.tolist(), strict=True):
        _require_reachable(epsilon, delta, floor, shift)

    def room(log_k: FloatArray, rows: npt.NDArray[np.intp]) -> FloatArray:
        k = np.exp(log_k)
        result: FloatArray = target - log_hockey_sticks(
            np.full(len(k), float(epsilon)), k * floors[rows], k * shifts[rows]
        )
        return result

    if len(floors) > 2 * _GUIDES:
        found, apart = _guided_start(epsilon, delta, floors, shifts), 1e-4
    else:
        # At large k the loss is nearly Gaussian, with variance 2ks²/η: that says where to begin. (ε < 1e-12 is like 0.)
        deviation = _gaussian_deviation(max(epsilon, 1e-12), target)
        found, apart = 2 * math.log(deviation) + np.log(floors / (2 * shifts**2)), 0.02
    rows: npt.NDArray[np.intp] = np.arange(len(floors))  # those that are not settled yet
    here, room_here = found.copy(), room(found, rows)
    there, room_there = here, room_here
    for step_number in range(13):  # the secant method, on a curve that is nearly straight in logarithms
        open_ = np.abs(room_here) > SAFETY / 2
        if not open_.any():
            return found
        rows = rows[open_]
        here, room_here, there, room_there = (x[open_] for x in (here, room_here, there, room_there))
        if step_number == 0:
            there, room_there = here - apart, room(here - apart, rows)
        rise = np.where(room_there != room_here, room_there - room_here, 1.0)
        step = np.clip(room_here * (here - there) / rise, -2.0, 2.0)
        there, room_there, here = here, room_here, here + step
        room_here = room(here, rows)
        found[rows] = here
    for i in rows[np.abs(room_here) > SAFETY / 2]:
        found[i] = _log_concentration(epsilon, target, float(floors[i]), float(shifts[i]), float(found[i]))
    return found


def _proven(epsilon: float, delta: float, floors: FloatArray, shifts: FloatArray, found: FloatArray) -> FloatArray:
    """The concentrations found, lowered where their proven bound is not below δ: by billionths, and rarely."""
    enough, found = log_below(delta), found.copy()
    for attempt in range(40):
        k = Balls.exact(found)
        failing = ~(log_delta_bounds(np.full(len(found), float(epsilon)), k * floors, k * shifts) <= enough)
        if not failing.any():
            return found
        found[failing] *= 1 - 1e-9 * 2.0 ** min(attempt, 28)
    raise UnreachablePrivacyError(
        f"(ε, δ) = ({epsilon:g}, {delta:g}) is so close to the edge of what the floor allows that no concentration can "
        "be proven to keep it: raise the floor"
    )


def _guided_start(epsilon: float, delta: float, floors: FloatArray, shifts: FloatArray) -> FloatArray:
    """log k for many rows, nearly right, from the exact answers for a few.

    The profile depends on ks and kη alone, so the answer for ks is a smooth function of the one number η/s: it is found
    at a few Chebyshev points and interpolated. Only a start: the caller checks it, and takes no row's word for it.
    """
    from scipy import interpolate

    log_ratio = np.log(floors / shifts)
    middle, half = (log_ratio.max() + log_ratio.min()) / 2, (log_ratio.max() - log_ratio.min()) / 2 + 1e-9
    nodes = np.cos(np.pi * (np.arange(_GUIDES) + 0.5) / _GUIDES)
    # The true range, cut where its end is: outside it the promise might be out of reach.
    ratios = np.exp(np.clip(middle + half * nodes, log_ratio.min(), log_ratio.max()))
    shift = np.minimum(1.0, 1.0 / (2 * ratios + 1))
    log_h = _search(epsilon, delta, ratios * shift, shift) + np.log(shift)
    guide = interpolate.BarycentricInterpolator(nodes, log_h)
    result: FloatArray = guide((log_ratio - middle) / half) - np.log(shifts)
    return result


def _log_concentration(epsilon: float, target: float, floor: float, shift: float, near: float) -> float:
    """log k for one row that the secant method did not settle, by bisection."""

    def room(log_k: float) -> float:
        return target - DirichletProfile(floor, math.exp(log_k), shift)._near_log_delta(epsilon)

    passing = failing = near
    step = 1.0
    while room(failing) >= 0:
        passing, failing, step = failing, failing + step, 2 * step
    step = 1.0
    while room(passing) < 0:
        failing, passing, step = passing, passing - step, 2 * step
        if passing < -600:
            raise UnreachablePrivacyError(
                f"ε = {epsilon:g} and δ = {math.exp(target):g} are at the very edge of what floor {floor:g} and shift "
                f"{shift:g} allow: the noise would drown everything. Raise the floor."
            )
    return largest_passing(room, failing=failing, passing=passing)


def largest_passing(
    room: Callable[[float], float], *, failing: float, passing: float, tolerance: float = 1e-11
) -> float:
    """The point nearest to `failing` where room ≥ 0, given room(failing) < 0 ≤ room(passing); on the safe side."""
    from scipy import optimize

    width = abs(passing - failing)
    edge = float(optimize.brentq(room, failing, passing, xtol=tolerance * width, rtol=tolerance, maxiter=500))
    step = tolerance * min(width, max(abs(edge), 1e-9 * width)) * (1 if passing > failing else -1)
    while room(edge) < 0:
        edge, step = edge + step, 2 * step
    return edge


def require_promise(epsilon: float, delta: float) -> None:
    """A promise worth making: ε > 0 and 0 < δ < ½ (MCM Definition 4)."""
    _require_positive(epsilon, "epsilon")
    if epsilon > _LARGEST_EPSILON:
        raise InvalidParameterError(
            f"epsilon is {epsilon:g}, which hides nothing; noise with a delta is calibrated up to {_LARGEST_EPSILON:g} "
            "(usual: 0.1 to 10)"
        )
    _require_delta(delta)


def require_probability(delta: float) -> None:
    if not 0 < delta < 1:
        raise InvalidParameterError(f"delta is {delta}: it must be between 0 and 1, both excluded")


def _require_delta(delta: float) -> None:
    if not 0 < delta < 0.5:
        raise InvalidParameterError(
            f'delta is {delta}: it must be between 0 and 1/2, both excluded (for δ = 0 use `mechanism="laplace"`)'
        )


def _require_positive(value: float, name: str) -> None:
    if not 0 < value < math.inf:
        raise InvalidParameterError(f"{name} is {value}: it must be a positive, finite number")


def _require_room(floor: float, shift: float) -> None:
    if 2 * floor + shift > 1 + 1e-12:
        raise InvalidParameterError(
            f"two entries of at least {floor:g} and a shift of {shift:g} between them need {2 * floor + shift:g} in "
            "all, more than the total mass of 1: lower the floor or the shift"
        )


def _require_reachable(epsilon: float, delta: float, floor: float, shift: float) -> None:
    _require_positive(floor, "floor")
    _require_positive(shift, "shift")
    _require_room(floor, shift)
    target = math.log(delta) - SAFETY
    if log_floor_limit(epsilon, floor, shift) >= target:
        raise UnreachablePrivacyError(
            f"no concentration gives (ε, δ) = ({epsilon:g}, {delta:g}) at floor {floor:g} and shift {shift:g}: even "
            f"with unbounded noise δ stays above {math.exp(log_floor_limit(epsilon, floor, shift)):.3g}. "
            + _smallest_floor(epsilon, target, shift)
        )


def _gaussian_deviation(epsilon: float, log_delta: float) -> float:
    """The standard deviation μ of a Gaussian loss N(μ²/2, μ²) with δ(ε) = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ); roughly."""
    from scipy import special

    z = math.sqrt(max(0.5, -2 * log_delta - math.log(max(1.0, -4 * math.pi * log_delta))))
    log_mu = math.log(2 * epsilon / (math.sqrt(z * z + 2 * epsilon) + z))  # from the tail's leading term
    for _ in range(20):  # Newton's method: dδ/dμ is the normal density at μ/2 - ε/μ
        mu = math.exp(log_mu)
        above, below = (float(special.log_ndtr(sign * mu / 2 - epsilon / mu)) for sign in (1, -1))
        found = above + math.log(max(-math.expm1(epsilon + below - above), 1e-300))
        slope = mu * math.exp(-0.5 * (mu / 2 - epsilon / mu) ** 2 - found) / math.sqrt(2 * math.pi)
        step = (log_delta - found) / max(slope, 1e-300)
        log_mu += min(max(step, -1.0), 1.0)
        if abs(step) < 1e-6:
            break
    return math.exp(log_mu)


def _smallest_floor(epsilon: float, target: float, shift: float) -> str:
    most = (1 - shift) / 2
    if log_floor_limit(epsilon, most, shift) >= target:
        return f"No floor is large enough for a shift of {shift:g}: ask for more ε or δ, or bring more records."
    least = largest_passing(lambda floor: target - log_floor_limit(epsilon, floor, shift), failing=0.0, passing=most)
    return f"The smallest floor that would do is {least:.6g} (anything above it)."
