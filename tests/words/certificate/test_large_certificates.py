"""Certificates of large systems: ratios that are dropped, boxes that last, runs that can be split.

The shortcuts only start on systems too large to enumerate, so here they are forced on small ones.
"""

import csv
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st

import pathveil as pv
from pathveil.words.certificate.certificate import Certificate, ChainCertifier
from pathveil.words.certificate.ratio_bounds import Box, RatioBounds
from pathveil.words.certificate.run_sums import total_loss
from pathveil.words.tilted.draw import log_normaliser
from tests.real_data import FOLDER, needs_real_data
from tests.reference.enumeration import feasible_words, hamming
from tests.reference.literal_ratio_bounds import literal_boxes
from tests.reference.random_systems import SystemWithLength, markov_chains_with_length, systems_with_length
from tests.sizes import given_few_and_many, small_and_large
from tests.worlds import RING, TOWN


class Case(NamedTuple):
    """A sparse chain, all its words of one length, and how to certify them."""

    world: pv.MarkovChain
    words: np.ndarray
    theta: float
    adjacency: int
    pairs: int
    contexts: int

    @property
    def length(self) -> int:
        return int(self.words.shape[1])

    def certificate(self) -> Certificate:
        certifier = ChainCertifier.of(
            self.world.compiled, self.length, self.adjacency, up_to=False, budget=self.contexts, pairs=self.pairs
        )
        assert isinstance(certifier, ChainCertifier)
        return certifier.certify(self.theta)

    def true_losses(self) -> dict[int, float]:
        """The largest dθ + |log Z(v) - log Z(w)| at each distance d up to the adjacency."""
        distances = np.count_nonzero(self.words[:, None, :] != self.words[None, :, :], axis=2)
        log_z = np.log(np.exp(-self.theta * distances).sum(axis=1))
        losses = distances * self.theta + np.abs(log_z[:, None] - log_z[None, :])
        near = range(1, self.adjacency + 1)
        return {d: float(losses[distances == d].max()) for d in near if np.any(distances == d)}

    def is_too_small(self, certificate: Certificate) -> bool:
        return any(
            loss > min(certificate.loss, certificate.loss_at(distance)) * (1 + 1e-12)
            for distance, loss in self.true_losses().items()
        )


def all_words(follows: np.ndarray, first: np.ndarray, length: int) -> np.ndarray:
    words = np.flatnonzero(first)[:, None]
    for _ in range(length - 1):
        parent, following = np.nonzero(follows[words[:, -1]])
        words = np.hstack([words[parent], following[:, None]])
    return words


def sparse_cases(number: int, seed: int = 0) -> Iterator[Case]:
    """Chains of 4 to 10 symbols with up to three successors each, dead ends included, and up to 600 words."""
    rng = np.random.default_rng(seed)
    while number:
        m, length = int(rng.integers(4, 11)), int(rng.integers(2, 8))
        follows = rng.random((m, m)) < rng.uniform(0.8, 2.6) / m
        if rng.random() < 0.4:
            follows |= follows.T
        first = rng.random(m) < rng.choice([0.3, 1.0])
        words = all_words(follows, first, length)
        if 2 <= len(words) <= 600 and first.any():
            number -= 1
            world = pv.MarkovChain.from_counts(
                range(m), follows.astype(int), initial={int(c) for c in np.flatnonzero(first)}
            )
            yield Case(
                world,
                words,
                theta=float(rng.choice([0.1, 0.4, 0.8, 1.2, 2.0, 4.0])),
                adjacency=int(rng.integers(1, 5)),
                pairs=int(rng.choice([1, 2 * m, 3 * m, 5 * m, 10_000])),
                contexts=int(rng.choice([1, 500])),
            )


@small_and_large("number", 50, 300)
def test_no_true_loss_exceeds_the_certificate_whatever_is_dropped(number: int) -> None:
    cases = list(sparse_cases(number))
    assert sum(case.pairs < len(case.world.symbols) ** 2 for case in cases) > number * 2 / 3
    assert not any(case.is_too_small(case.certificate()) for case in cases)


@small_and_large("number", 40, 200)
def test_no_true_loss_exceeds_the_certificate_with_boxes_that_last(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So wide that some box soon comes back into itself, even in short words.
    def widened(self: Box) -> Box:
        return Box(np.maximum(0.7 * self.lo - 0.02, 0.0), 1.3 * self.hi + 0.02, 1.3 * self.dropped + 0.02)

    monkeypatch.setattr(Box, "widened", widened)
    monkeypatch.setattr(Box, "has_settled", lambda *_: True)
    found = []
    search = RatioBounds._lasting

    def watched(self: RatioBounds, box: Box, i: int, z: float) -> Box | None:
        lasting = search(self, box, i, z)
        found.append(lasting is not None)
        return lasting

    monkeypatch.setattr(RatioBounds, "_lasting", watched)
    assert not any(case.is_too_small(case.certificate()) for case in sparse_cases(number, seed=1))
    assert sum(found) > number / 8


def planted(case: Case, **changes: Any) -> bool:
    with pytest.MonkeyPatch.context() as patch:
        for name, change in changes.items():
            patch.setattr(RatioBounds, name, change)
        return case.is_too_small(case.certificate())


def test_dropping_without_the_uniform_bound_is_found_out() -> None:
    """Negative control: were dropped ratios taken for 0, the comparison above would fail."""
    cases = sparse_cases(300)
    wrong = {"_step_dropped": lambda _, dropped, *__: np.zeros_like(dropped)}
    assert any(planted(case, **wrong) for case in cases)


def test_boxes_that_were_not_checked_to_last_are_found_out() -> None:
    """Negative control: were the third box used for all later positions, the comparison above would fail."""
    wrong = {"_lasting": lambda _, box, *__: box}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Box, "has_settled", lambda *_: True)
        assert any(planted(case, **wrong) for case in sparse_cases(300))


def test_half_of_the_certified_changes_is_found_out() -> None:
    """Negative control: with half of each K_r the comparison above would fail."""
    for case in sparse_cases(300):
        certificate = case.certificate()
        halves = {run: bound / 2 for run, bound in certificate.run_bounds.items()}
        loss = total_loss(case.theta, halves, min(case.adjacency, case.length))
        if case.is_too_small(Certificate(case.length, False, case.adjacency, case.theta, loss, halves, "halved")):
            return
    pytest.fail("no case noticed")


@given_few_and_many(
    50,
    200,
    case=systems_with_length(),
    epsilon=st.sampled_from([0.5, 2.0, 5.0, 12.0]),
    pairs=st.sampled_from([1, 5, 9]),
)
def test_the_mechanism_keeps_its_promise_on_every_kind_of_system_when_ratios_are_dropped(
    case: SystemWithLength, epsilon: float, pairs: int
) -> None:
    world, length = case
    certifier = ChainCertifier.of(world.compiled, length, 2, up_to=False, budget=40_000, pairs=pairs)
    mechanism = pv.CertifiedExponential(world, epsilon, adjacency=2)
    has_ratios = isinstance(certifier, ChainCertifier) and not world.compiled.is_free
    theta = certifier.largest(epsilon).theta if has_ratios else mechanism.theta(length)
    words = feasible_words(world, length)
    log_z = {w: math.log(math.fsum(math.exp(-theta * hamming(v, w)) for v in words)) for w in words}
    for v in words:
        for w in words:
            if (d := hamming(v, w)) <= 2:
                assert d * theta + abs(log_z[v] - log_z[w]) <= epsilon * (1 + 1e-12)


@given_few_and_many(
    37,
    150,
    case=markov_chains_with_length(),
    theta=st.sampled_from([0.1, 0.7, 2.0, 6.0]),
    memory=st.sampled_from([1, 2]),
    kept=st.integers(1, 16),
)
def test_boxes_equal_the_literal_ones_where_nothing_is_dropped_and_contain_them_otherwise(
    case: SystemWithLength, theta: float, memory: int, kept: int
) -> None:
    world, length = case
    budget = 1 if memory == 1 else 10**6
    exact, dropping = (
        ChainCertifier.of(world.compiled, length, 1, up_to=False, budget=budget, pairs=pairs) for pairs in (16, kept)
    )
    assert isinstance(exact, ChainCertifier)
    assert isinstance(dropping, ChainCertifier)
    chain, z = exact.chain, math.exp(-theta)
    literal = literal_boxes(chain, chain.alive(length, up_to=False), 1 if memory == 1 else length, z)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RatioBounds, "_lasting", lambda *_: None)  # no box is reused
        found = [(certifier._prefixes.kept.pairs, certifier._prefixes.boxes(z)) for certifier in (exact, dropping)]
    for number, (pairs, boxes) in enumerate(found):
        for box, expected in zip(boxes, literal, strict=True):
            for c, intervals in expected.items():
                row = slice(pairs.offsets[c], pairs.offsets[c + 1])
                own = dict(zip(pairs.symbols[row].tolist(), zip(box.lo[row], box.hi[row], strict=True), strict=True))
                for y, (lo, hi) in enumerate(intervals):
                    low, high = own.get(y, (0.0, box.dropped[y]))
                    assert low <= lo * (1 + 1e-15)
                    assert high >= hi * (1 - 1e-15)
                    if number == 0:
                        assert low == pytest.approx(lo, rel=1e-12, abs=1e-200)
                        assert high == pytest.approx(hi, rel=1e-12, abs=1e-200)


@pytest.mark.parametrize(
    ("world", "theta"),
    [
        (RING, 1.0),
        *((TOWN, theta) for theta in (2.5, 5.0)),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in ((RING, 0.3), (TOWN, 0.3), (TOWN, 1.0))),
    ],
)
def test_very_long_words_need_no_more_than_long_ones(world: pv.System, theta: float) -> None:
    """Bounds settle; and what is certified for more positions covers fewer."""
    bounds = []
    for length in (20, 400, 2_000):
        certifier = ChainCertifier.of(world.compiled, length, 1, up_to=False, budget=3_000)
        assert isinstance(certifier, ChainCertifier)
        bounds.append(certifier.certify(theta).run_bounds[1])
    assert bounds[0] <= bounds[1] * (1 + 1e-5)
    assert bounds[1] == pytest.approx(bounds[2], rel=1e-5)


@small_and_large("world", RING, TOWN)
def test_a_certificate_is_found_after_a_few_evaluations(world: pv.System, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Certificate] = []
    certify = ChainCertifier.certify

    def counted(self: ChainCertifier, theta: float, within: float | None = None) -> Certificate:
        proof = certify(self, theta, within)
        if within is not None:
            tried.append(proof)
        return proof

    monkeypatch.setattr(ChainCertifier, "certify", counted)
    numbers = []
    for epsilon in (0.5, 1.0, 2.0, 3.0, 5.0, 8.0):
        tried.clear()
        certificate = pv.CertifiedExponential(world, epsilon, contexts=100).certificate(8)
        numbers.append(len(tried))
        assert certificate.loss <= epsilon
        # Nothing a little larger that was tried has passed.
        assert certificate.theta == max(proof.theta for proof in tried if proof.loss <= epsilon)
    assert max(numbers) <= 20  # near ε a proof may end undecided, which counts as a failure
    assert sum(numbers) <= 45


def test_a_chain_with_too_many_transitions_gets_the_published_calibration() -> None:
    everything = pv.MarkovChain(range(600), np.full((600, 600), 1 / 600))
    certificate = pv.CertifiedExponential(everything, 4.0).certificate(60)
    assert "360,000 transitions at 60 positions would take too long" in certificate.method
    assert certificate.theta == pytest.approx(2.0, rel=1e-9)


@small_and_large("run", 3, 4)
def test_runs_of_several_segments_are_certified_in_the_town(run: int) -> None:
    certifier = ChainCertifier.of(pv.example_town().compiled, 6, run, up_to=False, budget=100)
    assert isinstance(certifier, ChainCertifier)
    certificate = certifier.certify(1.0)
    assert set(certificate.run_bounds) == set(range(1, run + 1))
    assert certificate.run_bounds[run] < 0.6 * run  # the published calibration pays `run`
    assert certificate.loss < 1.8 * run  # and loses twice as much


def test_dense_chains_have_no_runs_that_need_a_bound_of_their_own() -> None:
    full = pv.MarkovChain(range(12), np.full((12, 12), 1 / 12))
    certificate = pv.CertifiedExponential(full, 6.0, adjacency=3).certificate(10)
    assert set(certificate.run_bounds) == {1}
    assert certificate.theta == pytest.approx(2.0, rel=2e-3)


@pytest.mark.slow
@needs_real_data
def test_a_road_network_of_thousands_of_nodes_is_certified() -> None:
    with open(FOLDER / "oldenburg_edges.csv", encoding="utf-8") as file:
        roads = [(int(row["node_a"]), int(row["node_b"])) for row in csv.DictReader(file)]
    world = pv.MarkovChain.from_edges([*roads, *((b, a) for a, b in roads)])
    mechanism = pv.CertifiedExponential(world, epsilon=5.0)
    certificate = mechanism.certificate(100)
    assert len(world.symbols) == 6_105
    assert certificate.method == "certified"
    assert certificate.loss <= 5.0
    assert certificate.theta > 4.8

    # The true change of log Z, for single-symbol changes of a few trips.
    source, compiled = pv.insecure_seed(3), world.compiled
    changes = []
    for _ in range(3):
        word = world.random_word(100, source)
        here = log_normaliser(compiled, world.encode(word), certificate.theta)
        for position in world.neighbour_positions(word)[:6]:
            neighbours = np.tile(world.encode(word), (len(world.symbols), 1))
            neighbours[:, position - 1] = np.arange(len(world.symbols))
            for neighbour in neighbours[compiled.feasible_rows(neighbours)]:
                changes.append(abs(log_normaliser(compiled, neighbour, certificate.theta) - here))
    assert 0 < max(changes) <= certificate.run_bounds[1]


@pytest.mark.slow
def test_the_certificate_of_a_large_city_keeps_nothing_of_its_proof_and_proves_it_again_when_asked():
    city = pv.example_city(junctions=210_000)
    certificate = pv.CertifiedExponential(city, 8.0).certificate(20)
    assert certificate.theta > 7.9
    certifier = ChainCertifier.of(city.compiled, 20, 1, up_to=False, budget=40_000)
    assert isinstance(certifier, ChainCertifier)
    kept, again = certifier.certify(certificate.theta), certificate.loss_at(2)
    assert certificate.loss == kept.loss
    assert again == kept.loss_at(2)
