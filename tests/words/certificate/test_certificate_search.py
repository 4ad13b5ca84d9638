"""How run bounds add up to a loss, and how the largest tilt within ε is looked for."""

from __future__ import annotations

import math
from itertools import product

import pytest

import pathveil as pv
from pathveil.words.base.tilt import LARGEST_TILT
from pathveil.words.certificate.certificate import (
    Certificate,
    ChainCertifier,
    free_certificate,
    published_certificate,
    published_theta,
)
from pathveil.words.certificate.run_sums import total_loss
from tests.worlds import TOWN


@pytest.mark.parametrize(
    "bounds", [{}, {1: 0.2}, {2: 0.9}, {1: 0.1, 3: 2.0}, {1: 0.5, 2: 0.7, 3: 0.1}, {2: 0.1, 3: 1.4}]
)
def test_the_loss_is_that_of_the_worst_way_to_fill_a_distance_with_runs(bounds):
    theta = 0.8
    for distance in range(8):
        worst = 0.0
        for numbers in product(range(distance + 1), repeat=len(bounds)):
            runs = list(zip(numbers, bounds.items(), strict=True))
            if sum(number * run for number, (run, _) in runs) <= distance:
                worst = max(worst, sum(number * (run * theta + bound) for number, (run, bound) in runs))
        loss = total_loss(theta, bounds, distance)
        assert loss == pytest.approx(worst, rel=1e-11)
        assert worst * (1 + 0.9e-12) <= loss <= worst * (1 + 1.1e-12)


def test_beyond_the_adjacency_runs_that_were_not_looked_at_pay_as_much_as_published():
    certificate = Certificate(5, False, 2, 1.0, 2.6, {1: 0.3}, "certified")
    # Runs of two were looked at and there are none; runs of three and more pay 2θ for each symbol.
    assert [certificate.loss_at(d) for d in (1, 2, 3, 4, 5, 6, 100)] == pytest.approx(
        [1.3, 2.6, 6.0, 8.0, 10.0, 10.0, 10.0], rel=1e-11
    )
    cheap = Certificate(9, False, 3, 1.0, 3.3, {1: 0.1, 3: 0.2}, "certified")
    assert [cheap.loss_at(d) for d in (3, 4, 5)] == pytest.approx([3.3, 8.0, 10.0], rel=1e-11)
    assert certificate.run_bounds == {1: 0.3}


@pytest.mark.parametrize(("epsilon", "adjacency"), [(1e-9, 1), (0.3, 7), (5.0, 2), (1300.0, 1), (1e6, 1)])
def test_the_published_tilt_is_half_of_what_an_error_may_cost_and_loses_no_more_than_epsilon(epsilon, adjacency):
    theta = published_theta(epsilon, adjacency)
    assert theta <= LARGEST_TILT
    assert theta == LARGEST_TILT or epsilon / (2 * adjacency) * (1 - 5e-12) < theta < epsilon / (2 * adjacency)
    certificate = published_certificate(3, True, adjacency, theta, "a reason")
    assert 2 * adjacency * theta < certificate.loss <= epsilon
    assert certificate.loss == pytest.approx(2 * adjacency * theta, rel=1e-11)
    assert certificate.run_bounds == {run: run * theta for run in (1, 2, 3) if run <= adjacency}
    assert (certificate.length, certificate.up_to, certificate.adjacency) == (3, True, adjacency)
    assert certificate.contexts == 0
    assert certificate.protected_positions is None
    assert certificate.method == "published calibration: a reason"


def test_on_a_free_alphabet_a_loss_is_what_errors_cost():
    certificate = free_certificate(4, 6, False, 2, 0.7)
    assert certificate.loss == 2 * 0.7
    assert certificate.run_bounds == dict.fromkeys(range(1, 7), 0.0)
    assert certificate.protected_positions == 6.0
    assert certificate.loss_at(5) == pytest.approx(3.5, rel=1e-11)
    assert free_certificate(1, 6, True, 2, 0.7).protected_positions == 0.0
    assert free_certificate(2, 6, True, 2, 0.7).protected_positions == 6.0


def certifier_for(adjacency, loss, monkeypatch, epsilon_tried):
    """A certifier whose loss is a function of θ alone, and a list of what it is asked for."""
    certifier = ChainCertifier.of(TOWN.compiled, 8, adjacency, up_to=False, budget=1)
    assert isinstance(certifier, ChainCertifier)

    def certify(theta, within=None):
        if within is not None or theta not in epsilon_tried:  # a θ that passed is looked at more closely
            epsilon_tried.append(theta)
        bounds = {1: max(loss(theta) / adjacency - theta, 0.0)}
        return Certificate(8, False, adjacency, theta, loss(theta), bounds, "made up")

    monkeypatch.setattr(certifier, "certify", certify)
    return certifier


def changes():
    """Changes of log Z as functions of x = bθ, between 0 and bθ: none, all, waves, steps, and what real systems do."""
    return {
        "none": lambda _: 0.0,
        "all": lambda x: x,
        "half": lambda x: x / 2,
        "falling": lambda x: x * math.exp(-x),
        "falling late": lambda x: x / (1 + math.exp(4 * (x - 3))),
        "level": lambda x: min(x, 0.4),
        "steps": lambda x: math.floor(4 * x) / 4,
        "waves": lambda x: x * (0.5 + 0.5 * math.sin(9 * x)),
        "steep": lambda x: min(x, x**8 * 1e-3),
    }


@pytest.mark.parametrize("name", changes())
@pytest.mark.parametrize("adjacency", [1, 3])
@pytest.mark.parametrize("epsilon", [0.01, 0.9, 3.0, 5.0, 11.0])
def test_the_search_returns_a_tilt_that_was_tried_and_passed_and_does_not_miss_much(
    name, adjacency, epsilon, monkeypatch
):
    change, tried = changes()[name], []

    def loss(theta):
        return adjacency * theta + change(adjacency * theta)

    found = certifier_for(adjacency, loss, monkeypatch, tried).largest(epsilon)
    assert found.loss <= epsilon * (1 + 1e-15)
    assert found.theta in tried
    assert found.theta == max(theta for theta in tried if loss(theta) <= epsilon)
    assert epsilon / (2 * adjacency) * (1 - 1e-11) <= found.theta <= epsilon / adjacency
    assert tried[0] == pytest.approx(epsilon / adjacency, rel=1e-15)
    assert len(tried) <= 25
    if name not in ("waves", "steps"):
        # Right above, nothing passes; or the loss is as large as it may be.
        assert found.loss > epsilon * (1 - 1.1e-3) or loss(found.theta * (1 + 2.1e-3)) > epsilon
        assert len(tried) <= 14


def test_where_a_line_meets_epsilon_few_trials_are_needed(monkeypatch):
    numbers = []
    for slope in (0.1, 0.3, 0.5, 0.8):
        tried: list[float] = []
        found = certifier_for(1, lambda theta, s=slope: theta * (1 + s), monkeypatch, tried).largest(3.0)
        assert found.theta == pytest.approx(3 / (1 + slope), rel=1.5e-3)
        numbers.append(len(tried))
    assert max(numbers) <= 4


@pytest.mark.parametrize(("name", "most"), [("none", 5), ("half", 15), ("falling", 17), ("level", 10), ("steps", 60)])
def test_five_searches_take_no_more_trials_than_they_need(name, most, monkeypatch):
    tried: list[float] = []
    certifier = certifier_for(1, lambda theta: theta + changes()[name](theta), monkeypatch, tried)
    for epsilon in (0.01, 0.9, 3.0, 5.0, 11.0):
        certifier.largest(epsilon)
    assert len(tried) <= most


def test_a_search_is_stopped_where_little_can_be_won(monkeypatch):
    tried: list[float] = []
    certifier = certifier_for(1, lambda theta: theta if theta < 1.7 else theta + 1, monkeypatch, tried)
    found = certifier.largest(2.0)
    assert found.theta == pytest.approx(1.7, rel=1.01e-3)
    assert min(theta for theta in tried if theta >= 1.7) - found.theta <= 1.001e-3 * found.theta
    assert len(tried) <= 20
    # A step that fails takes away at least a sixteenth of the gap, and at most fifteen.
    passed, failed = min(t for t in tried if t < 1.7), 2.0
    for theta in tried[tried.index(passed) + 1 :]:
        gap = failed - passed
        assert passed + gap / 16.01 <= theta <= passed + gap * 15.01 / 16
        passed, failed = (theta, failed) if theta < 1.7 else (passed, theta)


def test_runs_that_are_too_many_leave_only_the_published_tilt(monkeypatch):
    for adjacency, run, tries in [(2, 1, 1), (2, 2, 1), (4, 3, None), (4, 2, 1), (3, 2, None)]:
        tried: list[float] = []
        certifier = certifier_for(adjacency, lambda theta, b=adjacency: b * theta * 1.5, monkeypatch, tried)
        certifier._runs(run).places = None
        found = certifier.largest(2.0)
        if tries:
            assert tried == [published_theta(2.0, adjacency)] == [found.theta]
        else:
            assert found.theta > 1.2 * published_theta(2.0, adjacency)


@pytest.mark.parametrize("up_to", [False, True])
def test_a_certificate_has_a_bound_for_every_run_between_0_and_what_is_published(up_to):
    ring = pv.MarkovChain.from_edges([(a, (a + step) % 9) for a in range(9) for step in (0, 1)])
    certifier = ChainCertifier.of(ring.compiled, 5, 3, up_to=up_to, budget=50)
    assert isinstance(certifier, ChainCertifier)
    for theta in (0.01, 1.0, 6.0, 300.0):
        certificate = certifier.certify(theta)
        assert list(certificate.run_bounds) == [1, 2, 3]
        assert all(0 <= bound <= run * theta for run, bound in certificate.run_bounds.items())
        assert certificate.loss == total_loss(theta, certificate.run_bounds, 3)
        assert (certificate.length, certificate.up_to, certificate.adjacency) == (5, up_to, 3)
        assert certificate.theta == theta
        assert certificate.contexts == certifier._prefixes.contexts + certifier._suffixes.contexts == certifier.contexts
    assert certificate.run_bounds[1] < 1.0  # far from 300


def test_adjacency_beyond_the_length_adds_up_no_more_runs_than_fit():
    certifiers = [ChainCertifier.of(TOWN.compiled, 2, b, up_to=False, budget=1) for b in (2, 5)]
    certificate, wider = (certifier.certify(0.7) for certifier in certifiers if isinstance(certifier, ChainCertifier))
    assert wider.run_bounds == certificate.run_bounds
    assert wider.loss == certificate.loss


def test_a_budget_of_contexts_and_pairs_is_used():
    small, large = (ChainCertifier.of(TOWN.compiled, 6, 1, up_to=False, budget=budget) for budget in (1, 3_000))
    assert isinstance(small, ChainCertifier)
    assert isinstance(large, ChainCertifier)
    assert small.contexts < large.contexts <= 2 * 3_000
    m = small.chain.symbol_count
    assert small._prefixes.kept.pairs.count == small._suffixes.kept.pairs.count == m * m
    few = ChainCertifier.of(TOWN.compiled, 6, 1, up_to=False, budget=1, pairs=100)
    assert isinstance(few, ChainCertifier)
    assert few._prefixes.kept.pairs.count <= 100
