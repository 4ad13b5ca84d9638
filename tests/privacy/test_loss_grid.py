"""What composition is made of: the grid of losses, its ends, its tilts, and what is added for the FFT."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from flint import arb, ctx
from scipy import integrate, special, stats

import pathveil as pv
from pathveil.privacy import composition
from pathveil.privacy.worst_pair import log_density
from tests.reference.exact_profile import profile_parameters

TRAFFIC = pv.DirichletProfile(floor=0.1, concentration=9.87, shift=0.0125)
GRADES = pv.DirichletProfile(floor=0.073, concentration=20.6, shift=1 / 98)
LOUD = pv.DirichletProfile(floor=0.2, concentration=1e6, shift=1e-4)
LOPSIDED = pv.DirichletProfile(floor=0.01, concentration=100.0, shift=0.3)
ROWS = [TRAFFIC, GRADES, LOUD, LOPSIDED]


def _moments(row):
    """Mean and variance of the loss by integrating its density."""
    centre, width = math.log1p(row.h / row.a), math.sqrt(1 / row.a + 1 / (row.a + row.h))
    u = np.linspace(centre - 60 * width, centre + 60 * width, 400_001)
    density = np.exp(log_density(u, row.a, row.h))
    mean = integrate.trapezoid(density * row.h * u, u)
    return mean, integrate.trapezoid(density * (row.h * u - mean) ** 2, u)


@pytest.mark.parametrize("row", ROWS)
def test_the_variance_of_a_loss_is_that_of_its_density(row):
    assert composition._loss_variance(row) == pytest.approx(_moments(row)[1], rel=1e-6)


@pytest.mark.parametrize("row", ROWS)
def test_centre_and_width_are_mode_and_curvature_of_the_density(row):
    centre, width = composition._centre_and_width(row)
    step = 1e-3 * width
    left, middle, right = log_density(np.array([centre - step, centre, centre + step]), row.a, row.h)
    assert abs(right - left) < 1e-3 * step / width
    assert (2 * middle - left - right) / step**2 == pytest.approx(width**-2, rel=1e-2)


@pytest.mark.parametrize("row", ROWS)
def test_beyond_the_ends_there_is_as_little_mass_as_wanted_and_not_far_less(row):
    bottom, top = composition._end(row, -1), composition._end(row, 1)
    assert bottom < math.log1p(row.h / row.a) < top
    law = stats.beta(row.a + row.h, row.a)
    assert -45 * 1.5 < law.logcdf(special.expit(bottom)) <= -45
    # The upper tail is the lower one of the mirrored law, where digits are left.
    assert -110 * 1.5 < stats.beta(row.a, row.a + row.h).logcdf(special.expit(-top)) <= -110


@pytest.mark.parametrize("row", ROWS)
def test_the_tail_is_bounded_from_above_and_closely_on_both_sides(row):
    with ctx.workdps(60):
        a, h = profile_parameters(row.floor, row.concentration, row.shift)
        for direction in (-1, 1):
            u = composition._end(row, direction)
            beyond = (1 / (1 + (direction * arb(u)).exp())).beta_lower(*((a, a + h)[::direction]), 1)
            assert beyond <= arb(composition._tail(row, u)) <= beyond * 1.5
            assert beyond <= arb(composition._log_tail(row, u)).exp() * (1 + 1e-9) <= beyond * 1.5
    assert composition._log_tail(TRAFFIC, 800.0) == pytest.approx(
        float(log_density(np.array([800.0]), TRAFFIC.a, TRAFFIC.h)[0]) - math.log(TRAFFIC.a)
    )


def test_the_grid_is_a_hundredth_of_a_typical_deviation():
    mixed = pv.ComposedProfile([TRAFFIC] * 3 + [GRADES])
    typical = math.sqrt((3 * _moments(TRAFFIC)[1] + _moments(GRADES)[1]) / 4)
    assert mixed.spacing == pytest.approx(typical / 100, rel=1e-6)
    assert len(mixed._tilted_law(1.0)) < 2**20


def test_the_grid_of_very_many_rows_is_coarser_but_never_longer_than_a_million_points():
    many = pv.ComposedProfile([TRAFFIC] * 3000 + [GRADES] * 2000)
    assert many.spacing > 1.5 * many._deviation / 100
    spans = [count * row.h * (composition._end(row, 1) - composition._end(row, -1)) for row, count in many.rows]
    assert many.spacing == pytest.approx(sum(spans) / 2**20, rel=1e-12)
    law = many._tilted_law(0.01)
    assert 0.9 * 2**20 < len(law) < 2**20 + 20_000


@pytest.mark.parametrize("row", ROWS)
def test_the_grid_keeps_probability_under_both_inputs(row):
    # Mass is split so that its probability is kept under either input; rounding only adds.
    for profile, slack in ((pv.ComposedProfile([row]), 2e-9), (pv.ComposedProfile.for_searches([row]), 1.1e-9)):
        [(part, count)] = profile._parts
        assert count == 1
        loss = (part.lowest + np.arange(len(part.mass))) * profile.spacing
        assert 0.9e-9 < part.mass.sum() - 1 < slack  # the slivers at the ends of cells: a billionth
        if row is not LOPSIDED:  # nearly all that the other input gives lies below its grid
            assert -1e-9 < (part.mass * np.exp(-loss)).sum() - 1 < 1e-8
        assert (part.mass * loss).sum() == pytest.approx(_moments(row)[0], rel=1e-3)
        assert 0 < part.infinite < 1e-47


@pytest.mark.parametrize(("row", "coarse"), [(TRAFFIC, 1.0), (LOPSIDED, 40.0), (LOUD, 0.01)])
def test_panels_end_at_grid_points_and_narrow_towards_the_mode_and_towards_zero(row, coarse):
    seen = {}

    def split(_row, spacing, edges, index):
        seen.update(spacing=spacing, edges=edges, index=index)
        return [np.full(len(index), 0.25), np.full(len(index), 0.5)]

    part = composition._on_grid(row, coarse, split)
    bottom, top = composition._end(row, -1), composition._end(row, 1)
    lowest, highest = math.floor(row.h * bottom / coarse), math.ceil(row.h * top / coarse)
    cells = [i * coarse / row.h for i in range(lowest, highest + 1)]
    centre, width = composition._centre_and_width(row)
    powers = [2.0 ** (j / 2) for j in range(-6, 140)]
    around = [0.0, centre, *(sign * x for x in powers for sign in (-1, 1))]
    around += [centre + sign * width * x for x in powers for sign in (-1, 1)]
    expected = sorted({*cells, *(u for u in around if cells[0] <= u <= cells[-1])})
    assert seen["spacing"] == coarse
    assert seen["edges"] == pytest.approx(expected, rel=1e-9, abs=1e-12)
    middles = (seen["edges"][1:] + seen["edges"][:-1]) / 2
    assert (seen["index"] == np.floor(middles * row.h / coarse)).all()
    assert part.lowest == lowest
    # What goes up goes to the next grid point; mass below the grid joins the lowest one.
    panels = np.bincount(seen["index"] - lowest, minlength=len(cells))
    mass = 0.5 * panels + 0.25 * np.concatenate([[0], panels[:-1]])
    mass[0] += composition._tail(row, cells[0])
    assert part.mass == pytest.approx(mass, rel=1e-8)
    assert part.infinite == pytest.approx(composition._tail(row, cells[-1]), rel=1e-9, abs=0)


def test_searches_work_on_the_same_grid_as_proofs():
    rows = [TRAFFIC] * 4 + [GRADES] * 2
    proven, quick = pv.ComposedProfile(rows), pv.ComposedProfile.for_searches(rows)
    for (mine, _), (theirs, _) in zip(proven._parts, quick._parts, strict=True):
        assert mine.lowest == theirs.lowest
        assert mine.mass == pytest.approx(theirs.mass, rel=1e-9, abs=1e-30)
    for epsilon in (0.1, 1.0, 4.0):
        assert quick.delta(epsilon) == pytest.approx(proven.delta(epsilon), rel=1e-8, abs=0)


def test_masses_of_more_panels_than_are_done_at_a_time_are_those_of_each_alone():
    edges = np.linspace(-4, 6, 61)
    spacing = (edges[1] - edges[0]) * TRAFFIC.h
    index = np.round(edges[:-1] * TRAFFIC.h / spacing).astype(np.int64)
    whole = composition._split_masses(TRAFFIC, spacing, edges, index)
    for size in (7, 20, 59, 60):
        cut = composition._split_masses(TRAFFIC, spacing, edges, index, at_a_time=size)
        for mine, theirs in zip(cut, whole, strict=True):
            assert mine == pytest.approx(theirs, rel=1e-12, abs=0)


def test_losses_go_up_and_stay_in_the_proportion_that_keeps_both_probabilities():
    edges = np.arange(-8, 13) / 2
    spacing = TRAFFIC.h / 2
    index = np.arange(-8, 12)
    for split in (composition._split_masses, composition._nearly_split_masses):
        upward, staying = split(TRAFFIC, spacing, edges, index)
        for i, (left, right) in enumerate(itertools.pairwise(edges)):
            u = np.linspace(left, right, 20_001)
            density = np.exp(log_density(u, TRAFFIC.a, TRAFFIC.h))
            share = np.expm1(-TRAFFIC.h * u + index[i] * spacing) / math.expm1(-spacing)
            assert upward[i] == pytest.approx(integrate.trapezoid(density * share, u), rel=1e-6)
            assert staying[i] == pytest.approx(integrate.trapezoid(density * (1 - share), u), rel=1e-6)


def test_a_coarse_panel_is_charged_for_what_gausss_rule_may_leave_out():
    # One panel over nearly all of the law: the rule is wrong there, and the bound must say so.
    for row in (TRAFFIC, LOPSIDED):
        spacing = 24.0 * row.h
        upward, staying = composition._split_masses(row, spacing, np.array([-12.0, 12.0]), np.array([0]))
        assert upward[0] + staying[0] >= 1 - 1e-4


def test_what_the_rule_leaves_out_is_charged_to_both_ends_at_the_height_of_the_peak(monkeypatch):
    edges, index, spacing = np.array([-1.0, 0.0, 1.0]), np.array([-1, 0]), LOPSIDED.h
    gains = []

    def no_errors(edges, *given):
        gains.append(given[-1])
        return 0 * edges[:, 1:]

    monkeypatch.setattr(composition, "rule_errors", lambda edges, *_: 0 * edges[:, 1:] + 0.001)
    charged = composition._split_masses(LOPSIDED, spacing, edges, index)
    monkeypatch.setattr(composition, "rule_errors", no_errors)
    plain = composition._split_masses(LOPSIDED, spacing, edges, index)
    u = np.linspace(0, 10, 100_001)
    peak = np.exp(log_density(u, LOPSIDED.a, LOPSIDED.h)).max()
    for less, more in zip(plain, charged, strict=True):
        assert more - less == pytest.approx(np.full(2, 2 * 0.001 * peak), rel=1e-4)

    # And the gain covers both shares, for complex losses in the box around a panel's ellipse.
    for row, along, across in ((TRAFFIC, 0.6, 0.3), (LOPSIDED, 0.6, 0.3), (LOPSIDED, 0.0, 0.0)):
        composition._split_masses(row, row.h, edges, index)
        spacing, middle = row.h, 0.5  # of the panel that begins at the grid point 0
        z = middle + np.linspace(-along, along, 41)[:, None] + 1j * np.linspace(-across, across, 41)[None, :]
        up = np.expm1(-row.h * z) / np.expm1(-spacing)
        bound = np.exp(gains[-1](*(np.array([x]) for x in (middle, along, across))))[0]
        assert max(np.abs(up).max(), np.abs(1 - up).max()) <= bound
        size = min(2.0, spacing + row.h * (along + across))
        assert bound == pytest.approx(1 + math.exp(row.h * along) * size / -math.expm1(-spacing))


def test_moments_and_tilts_on_the_grid():
    part = composition._GridLoss(-2, np.array([0.1, 0.0, 0.2, 0.7]), 0.0)
    for tilt in (-1.5, 0.0, 0.3, 40.0):
        weights = np.array([0.1, 0.0, 0.2, 0.7]) * np.exp(tilt * np.array([-2, -1, 0, 1]))
        assert composition._log_moment(part, tilt) == pytest.approx(math.log(weights.sum()))
        assert composition._tilted(part, tilt) == pytest.approx(weights / weights.sum())
    assert composition._log_moment(part, 1e4) == pytest.approx(1e4 + math.log(0.7))


def test_the_law_of_a_sum_is_the_convolution_of_its_parts():
    profile = pv.ComposedProfile([TRAFFIC] * 2 + [GRADES])
    (first, two), (second, one) = profile._parts
    assert (two, one) == (2, 1)
    theta = 0.7
    tilted = [composition._tilted(part, theta * profile.spacing) for part in (first, first, second)]
    expected = np.convolve(np.convolve(tilted[0], tilted[1]), tilted[2])
    law = profile._tilted_law(theta)
    assert len(law) == len(expected)
    assert law == pytest.approx(expected, abs=1e-15)
    assert profile._tilted_law(theta) is law
    assert profile._tilted_law(0.8) is not law
    assert profile._tilted_law(0.8) != pytest.approx(law, abs=1e-9)
    moment = profile._log_moment(theta)
    assert moment == pytest.approx(
        2 * composition._log_moment(first, theta * profile.spacing)
        + composition._log_moment(second, theta * profile.spacing)
    )


def _by_hand(profile, epsilon, theta):
    """δ(ε) from the convolved law without any tilt, and the least that must be added for FFTs under a tilt."""
    mass, lowest, rows, infinite = np.ones(1), 0, 0, 0.0
    for part, count in profile._parts:
        for _ in range(count):
            mass = np.convolve(mass, part.mass)
        lowest, rows, infinite = lowest + count * part.lowest, rows + count, infinite + count * part.infinite
    loss = (lowest + np.arange(len(mass))) * profile.spacing
    found = (mass * np.maximum(0.0, -np.expm1(np.minimum(epsilon - loss, 0.0)))).sum()
    moment = (mass * np.exp(theta * (loss - epsilon))).sum()
    # Higham: 8u·log₂ n in the ℓ₂ norm for one transform, twice that allowed; √n from ℓ₂ to a sum.
    fft = moment * 16 * 2.0**-53 * math.log2(len(mass)) * (rows + 1) * math.sqrt(len(mass))
    return found, fft, infinite


def test_what_is_added_for_the_fft_and_for_infinite_losses_is_there_and_no_more():
    profile = pv.ComposedProfile([TRAFFIC] * 2 + [GRADES])
    for epsilon, theta in ((0.5, 1.0), (2.0, 2.0), (4.0, 3.0), (1.0, 0.01)):
        exact, fft, infinite = _by_hand(profile, epsilon, theta)
        found = profile._delta(epsilon, theta)
        assert exact + fft + infinite <= found * (1 + 1e-13)
        assert found <= (exact + 1.01 * fft + infinite) * (1 + 1e-9)
    # Beyond the last loss of the grid nothing but these is left.
    top = (sum(c * (p.lowest + len(p.mass) - 1) for p, c in profile._parts) + 1) * profile.spacing
    exact, fft, infinite = _by_hand(profile, top, 0.5)
    assert exact == 0.0
    assert profile._delta(top, 0.5) == pytest.approx(fft + infinite, rel=1e-2, abs=0)
    assert profile._delta(top, 0.5) >= fft


def test_every_row_adds_its_share_for_the_rounding_of_tilts():
    profile = pv.ComposedProfile([TRAFFIC] * 2 + [GRADES])
    plain = profile._delta(1.0, 1.0)
    infinite = sum(count * part.infinite for part, count in profile._parts)
    assert composition._TILT_ERROR >= 1000 * 2.0**-50
    assert profile._delta(1.0, 1.0, tilt_error=0.1) - infinite == pytest.approx((plain - infinite) * 1.1**3, rel=1e-9)


def test_a_grid_without_a_bound_says_nothing():
    profile = pv.ComposedProfile([TRAFFIC])
    [(part, _)] = profile._parts
    profile.__dict__["_parts"] = [(composition._GridLoss(part.lowest, np.full(len(part.mass), np.inf), 0.0), 1)]
    assert profile._delta(1.0, 1.0) == 1.0


def test_the_tilt_that_is_chosen_is_nearly_the_best():
    profile = pv.ComposedProfile([GRADES] * 5)

    def bound(theta):
        return profile._log_moment(theta) - theta * 3.0

    chosen = profile._best_tilt(bound)
    others = [bound(math.exp(x)) for x in np.linspace(-6, 8, 2000)]
    assert bound(chosen) <= min(others) + 1e-4
    for other in (0.8, 1.25):
        assert bound(chosen) < bound(other * chosen)


def test_an_epsilon_is_the_least_that_its_own_delta_allows():
    for rows, delta in (([TRAFFIC] * 5, 1e-4), ([GRADES, LOPSIDED], 1e-9), ([LOUD] * 2, 0.01)):
        profile = pv.ComposedProfile(rows)
        epsilon = profile.epsilon(delta)
        assert profile.delta(epsilon) <= delta * (1 + 1e-6)
        assert profile.delta(epsilon * (1 - 1e-5)) > delta
    quiet = pv.ComposedProfile([pv.DirichletProfile(0.3, 1e-3, 1e-4)] * 2)
    assert quiet.epsilon(0.9) == 0.0
    at_zero = quiet.delta(0.0)
    assert quiet.epsilon(at_zero) == 0.0
    assert quiet.epsilon(at_zero * 0.999) > 0.0
