"""What several Dirichlet draws cost together: a privacy-loss distribution that is never too small.

Where every row of a matrix may change at once, the losses of the rows add up. The loss of one row, hu with
u ~ logit Beta(a+h, a), is put on a grid; sums are convolutions; and δ(ε) = E max(0, 1 - e^(ε - loss)). Each step errs
on the safe side only:

- *Masses.* Densities are enclosed, and the error of the quadrature is bounded, as in `enclosed_delta.py`; every mass on
  the grid is rounded up.
- *Grid.* The mass between two grid points goes to both, in the one proportion that keeps its probability under either
  input. As δ is convex in e^ε, the profile on the grid lies above the true one ("connect the dots", Doroshenko et al.,
  2022), by an amount that is quadratic in the spacing.
- *Ends.* Mass above the grid counts as infinite loss, mass below it is moved up to its lowest point.
- *Convolution.* FFTs have an absolute error, and δ may be 1e-20. So the laws are tilted by e^(θ·loss) first, which
  moves their bulk to where ε is, and tilted back afterwards: the error is then small against δ itself. A bound on it
  is added: for a transform of length n it is 8u·log₂ n in the Euclidean norm (Higham, *Accuracy and Stability of
  Numerical Algorithms*, Theorem 24.2; u = 2⁻⁵³), twice of which is allowed for, also for taking powers.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pathveil.errors import InvalidParameterError
from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.numerics.balls import Balls, sum_last
from pathveil.privacy.enclosed_delta import NODES, WEIGHTS, log_densities, rule_errors
from pathveil.privacy.profile import SAFETY, DirichletProfile, largest_passing, require_probability
from pathveil.privacy.worst_pair import log_density

_MOST_POINTS = 2**20  # of the sum's grid: one FFT then takes some 30 ms
_POINTS_PER_DEVIATION = 100
_TOP_LOG_MASS = -110.0  # what may count as infinite loss: 1e-48
_BOTTOM_LOG_MASS = -45.0
_TILT_ERROR = 1e-10  # relative, for each row: exponents of tilts are below 1000, their rounding below 1000·2⁻⁵⁰
_SLIVER = 1e-9  # relative
_PANELS_AT_A_TIME = 2**11

Split = Callable[[DirichletProfile, float, FloatArray, IntArray], list[FloatArray]]


@dataclass(frozen=True)
class _GridLoss:
    """The loss of one draw on the grid: P(loss = (lowest + i)·spacing) = mass[i]; `infinite` is the rest, at most."""

    lowest: int
    mass: FloatArray
    infinite: float


class ComposedProfile:
    """How private several independent Dirichlet draws are together, when the input of each may change.

    `rows` are profiles, one for each draw; equal ones are counted and cost no more than one. The answers are upper
    bounds, within about 1e-4 (relative) of the exact ε.

    >>> import pathveil as pv
    >>> row = pv.DirichletProfile(floor=0.1, concentration=9.87, shift=0.0125)
    >>> round(pv.ComposedProfile([row] * 32).epsilon(0.011), 2)
    3.03
    """

    def __init__(self, rows: Iterable[DirichletProfile]) -> None:
        self.rows = tuple(sorted(Counter(rows).items(), key=lambda item: item[0].concentration))
        if not self.rows:
            raise InvalidParameterError("no rows: composition needs at least one profile")
        self._law_at: tuple[float, FloatArray] | None = None
        self._split: Split = _split_masses

    @classmethod
    def for_searches(cls, rows: Iterable[DirichletProfile]) -> ComposedProfile:
        """Many times faster and right to many digits, but without proof: what a search finds must be checked."""
        profile = cls(rows)
        profile._split = _nearly_split_masses
        return profile

    def __repr__(self) -> str:
        return "ComposedProfile(" + " + ".join(f"{count} × {row}" for row, count in self.rows) + ")"

    def renyi(self, alpha: float) -> float:
        """Rényi divergences of independent draws add up."""
        return sum(count * row.renyi(alpha) for row, count in self.rows)

    def delta(self, epsilon: float) -> float:
        """A δ, hardly larger than the least one, for which all draws together are (ε, δ)-differentially private."""
        if not 0 <= epsilon < math.inf:
            raise InvalidParameterError(f"epsilon is {epsilon}: it must be a finite number of at least 0")
        return self._delta(epsilon, self._best_tilt(lambda theta: self._log_moment(theta) - theta * epsilon))

    def epsilon(self, delta: float) -> float:
        """An ε, hardly larger than the least one, for which all draws together are (ε, δ)-differentially private."""
        require_probability(delta)
        if self.delta(0.0) <= delta:
            return 0.0
        # Any tilt is sound; the one of the moments bound (E e^(θ·loss) ≤ δ e^(θε)) is close to the best.
        theta = self._best_tilt(lambda theta: (self._log_moment(theta) - math.log(delta)) / theta)
        high = max(self.spacing, (self._log_moment(theta) - math.log(delta)) / theta)
        while self._delta(high, theta) > delta:
            high *= 2
        return largest_passing(
            lambda epsilon: math.log(delta) - SAFETY - math.log(self._delta(epsilon, theta)), failing=0.0, passing=high
        )

    @cached_property
    def _deviation(self) -> float:
        """The standard deviation of a typical row's loss."""
        rows = sum(count for _, count in self.rows)
        return math.sqrt(sum(count * _loss_variance(row) for row, count in self.rows) / rows)

    @cached_property
    def spacing(self) -> float:
        """Fine against the typical row's loss, but never so fine that the sum's grid gets out of hand."""
        spans = [(row.h * (_end(row, 1) - _end(row, -1)), count) for row, count in self.rows]
        return max(self._deviation / _POINTS_PER_DEVIATION, sum(span * count for span, count in spans) / _MOST_POINTS)

    @cached_property
    def _parts(self) -> list[tuple[_GridLoss, int]]:
        return [(_on_grid(row, self.spacing, self._split), count) for row, count in self.rows]

    def _log_moment(self, theta: float) -> float:
        """log E e^(θ·loss) of the sum, on the grid."""
        return sum(count * _log_moment(part, theta * self.spacing) for part, count in self._parts)

    def _best_tilt(self, bound: Callable[[float], float]) -> float:
        """The θ that minimises a bound, to some digits: any other is as sound, only less sharp."""
        from scipy import optimize

        centre = -math.log(self._deviation)
        found = optimize.minimize_scalar(
            lambda log_theta: bound(math.exp(log_theta)),
            bounds=(centre - 12, centre + 12),
            method="bounded",
            options={"xatol": 1e-3},
        )
        return math.exp(float(found.x))

    def _tilted_law(self, theta: float) -> FloatArray:
        """P(sum = …)·e^(θ·sum) / E e^(θ·sum) on the grid, by FFT; the latest is kept, for searches over ε."""
        if self._law_at is None or self._law_at[0] != theta:
            from scipy import fft

            length = sum(count * (len(part.mass) - 1) for part, count in self._parts) + 1
            size = fft.next_fast_len(length, real=True)
            product = np.ones(size // 2 + 1, dtype=complex)
            for part, count in self._parts:
                product *= fft.rfft(_tilted(part, theta * self.spacing), size) ** count
            self._law_at = theta, np.maximum(fft.irfft(product, size)[:length], 0.0)
        return self._law_at[1]

    def _delta(self, epsilon: float, theta: float, tilt_error: float = _TILT_ERROR) -> float:
        if not all(np.isfinite(part.mass).all() for part, _ in self._parts):  # where no bound could be had
            return 1.0
        law = self._tilted_law(theta)
        lowest = sum(count * part.lowest for part, count in self._parts)
        loss = (lowest + np.arange(len(law))) * self.spacing - epsilon
        above = loss > 0
        # Everything relative to the moments bound E e^(θ·(loss - ε)), which δ never exceeds.
        log_scale = self._log_moment(theta) - theta * epsilon
        if log_scale > 300:  # a tilt that is far too strong for this ε says nothing about it
            return 1.0
        scale = math.exp(log_scale)
        part = float((law[above] * np.exp(-theta * loss[above]) * -np.expm1(-loss[above])).sum())
        rows = sum(count for _, count in self._parts)
        # ℓ₂ error of the FFTs and products, and Cauchy–Schwarz for the sum over all points.
        error = 8 * np.finfo(float).eps * math.log2(len(law) + 2) * (rows + 1) * math.sqrt(len(law))
        slack = (1 + tilt_error) ** rows
        infinite = sum(count * part.infinite for part, count in self._parts)
        return min(1.0, slack * scale * (part + error) + infinite)


def _loss_variance(row: DirichletProfile) -> float:
    from scipy import special

    return row.h**2 * float(special.polygamma(1, row.a) + special.polygamma(1, row.a + row.h))


def _centre_and_width(row: DirichletProfile) -> tuple[float, float]:
    """The mode of u, and the scale on which its density changes there."""
    m = 2 * row.a + row.h
    return math.log1p(row.h / row.a), math.sqrt(m / (row.a * (row.a + row.h)))


def _end(row: DirichletProfile, direction: int) -> float:
    """A u beyond which (direction 1: above, -1: below) there is next to no mass."""
    centre, width = _centre_and_width(row)
    target = _TOP_LOG_MASS if direction > 0 else _BOTTOM_LOG_MASS
    step = width
    while _log_tail(row, centre + direction * step) > target:
        step *= 1.2
    return centre + direction * step


def _log_tail(row: DirichletProfile, u: float) -> float:
    """log of a bound on the mass beyond u, on its side of the mode: density over slope, as for any log-concave law."""
    m = 2 * row.a + row.h
    below = 1 / (1 + math.exp(u)) if u < 700 else 0.0
    return log_density(np.array([u]), row.a, row.h).item() - math.log(abs(row.a - m * below))


def _on_grid(row: DirichletProfile, spacing: float, split: Split) -> _GridLoss:
    bottom, top = _end(row, -1), _end(row, 1)
    lowest, highest = math.floor(row.h * bottom / spacing), math.ceil(row.h * top / spacing)
    cells = np.arange(lowest, highest + 1) * (spacing / row.h)
    centre, width = _centre_and_width(row)
    # Panels end at every grid point, and narrow towards the mode and towards 0, where the density bends.
    reach = np.concatenate([-(2.0 ** np.arange(-3, 70, 0.5)), [0.0], 2.0 ** np.arange(-3, 70, 0.5)])
    edges = np.concatenate([cells, centre + width * reach, reach])
    edges = np.unique(edges[(edges >= cells[0]) & (edges <= cells[-1])])
    cell = np.searchsorted(cells, (edges[1:] + edges[:-1]) / 2, side="right") - 1
    upward, staying = split(row, spacing, edges, lowest + cell)
    on_grid = np.zeros(len(cells))
    np.add.at(on_grid, cell + 1, upward)
    np.add.at(on_grid, cell, staying)
    # A cell's ends are rounded, so that a sliver of mass at an end may be split as its neighbours are; it is less than
    # a billionth of theirs.
    on_grid *= 1 + _SLIVER
    on_grid[0] += _tail(row, cells[0])
    return _GridLoss(lowest, on_grid, _tail(row, cells[-1]))


def _tail(row: DirichletProfile, u: float) -> float:
    """The mass beyond u, at most; its rounding is far below the part in a thousand that is added."""
    point, k = Balls.exact([u]), Balls.exact([row.concentration])
    enclosed = log_densities(point, k * row.floor, k * row.shift).upper.item()
    return 1.001 * math.exp(_log_tail(row, u) - log_density(point.mid, row.a, row.h).item() + enclosed)


def _nearly_split_masses(row: DirichletProfile, spacing: float, edges: FloatArray, index: IntArray) -> list[FloatArray]:
    """`_split_masses` without bounds: the same numbers, but for rounding."""
    half = np.diff(edges)[:, None] / 2
    u = edges[:-1, None] + half * NODES.mid
    mass = half * WEIGHTS.mid * np.exp(log_density(u, row.a, row.h))
    up = np.expm1(-row.h * u + index[:, None] * spacing) / math.expm1(-spacing)
    return [(mass * up).sum(axis=1), (mass * (1 - up)).sum(axis=1)]


def _split_masses(
    row: DirichletProfile, spacing: float, edges: FloatArray, index: IntArray, at_a_time: int = _PANELS_AT_A_TIME
) -> list[FloatArray]:
    """Bounds on the masses of panels that go to the upper and to the lower end of their cells.

    `index` says which grid point the lower end is. A loss x above it goes up with probability
    (1 - e^-x)/(1 - e^-spacing).
    """
    if len(index) > at_a_time:  # so that arrays stay in the processor's cache
        cuts = range(0, len(index), at_a_time)
        parts = [_split_masses(row, spacing, edges[i : i + at_a_time + 1], index[i : i + at_a_time]) for i in cuts]
        return [np.concatenate(masses) for masses in zip(*parts, strict=True)]
    k = Balls.exact([row.concentration])
    a, h = k * row.floor, k * row.shift
    with np.errstate(all="ignore"):  # a bound that cannot be had comes out as infinite
        half = ((Balls.exact(edges[1:]) - edges[:-1]) * 0.5)[:, None]
        u = half * NODES + edges[:-1, None]
        mass = half * WEIGHTS * log_densities(u, a, h).exp()
        up = (h * u - Balls.exact(index[:, None]) * spacing).one_minus_exp() / Balls.exact([spacing]).one_minus_exp()

        def log_gain(_: FloatArray, along: FloatArray, across: FloatArray) -> FloatArray:
            """The probability as a function of complex x, |1 - e^-x| ≤ e^(max(0, -Re x)) min(2, |x|), and 1 less it."""
            x = np.minimum(2.0, spacing + row.h * (along + across))
            result: FloatArray = np.log1p(np.exp(row.h * along) * x / -np.expm1(-spacing))
            return result

        peak = np.array([math.log1p(row.h / row.a)])
        one_row = np.array([[row.a]]), np.array([[row.h]]), np.zeros((1, 1))
        errors = rule_errors(edges[None, :], *one_row, log_gain)[0]
        left_out = 2 * errors * np.exp(log_densities(Balls.exact(peak), a, h).upper)
        found = [sum_last(mass * share).upper + left_out for share in (up, -up + 1.0)]
    return [np.where(np.isnan(x), np.inf, np.maximum(x, 0.0)) * (1 + 2.0**-40) for x in found]


def _log_terms(part: _GridLoss, tilt: float) -> FloatArray:
    with np.errstate(divide="ignore"):
        result: FloatArray = np.log(part.mass) + tilt * (part.lowest + np.arange(len(part.mass)))
    return result


def _log_moment(part: _GridLoss, tilt: float) -> float:
    terms = _log_terms(part, tilt)
    top = float(terms.max())
    return top + math.log(float(np.exp(terms - top).sum()))


def _tilted(part: _GridLoss, tilt: float) -> FloatArray:
    result: FloatArray = np.exp(_log_terms(part, tilt) - _log_moment(part, tilt))
    return result
