"""Laws and bounds as printed, the choice of a mechanism, and which way a batch is drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pathveil as pv
from pathveil.words import exponential, permute_and_flip
from pathveil.words.base.batch import Words
from pathveil.words.base.law import ErrorLaw
from pathveil.words.classes import batches as class_batches
from tests.reference.enumeration import Word, exponential_law, feasible_words, hamming, permute_and_flip_law
from tests.statistics import FALSE_ALARM, chi_square_p_value
from tests.words.mechanisms import MECHANISMS, build
from tests.words.test_kernels import CHAIN, PLANS
from tests.words.test_laws_by_enumeration import reference_law

LETTERS = pv.MarkovChain.from_edges([("a", "b"), ("b", "a"), ("b", "c"), ("c", "a"), ("a", "a")])
TOWN = pv.example_town()
# Every word over two symbols, but its two states are entered with either: certificates are the published ones.
TOGGLE = pv.TransitionSystem({(0, "a"): 1, (1, "a"): 0, (0, "b"): 0, (1, "b"): 1}, initial=0)

# --------------------------------------------------------------------------------------------------- laws


SMALL: dict[str, tuple[pv.System, list[Word]]] = {
    "alphabet": (pv.Alphabet("abc"), [tuple("a"), tuple("cab")]),
    "chain": (CHAIN, [(0, 1, 2), (2, 1, 0, 0)]),  # the second one is not feasible
    "plans": (PLANS, [("a", "b", "a"), ("c", "c", "c", "c")]),
    "toggle": (TOGGLE, [tuple("abb")]),
    "one successor": (pv.MarkovChain.from_edges([(0, 1), (1, 0), (1, 2), (2, 0)], initial=1), [(0, 1, 2), (2, 2, 2)]),
}


@pytest.mark.parametrize("where", SMALL)
@pytest.mark.parametrize("name", MECHANISMS)
def test_laws_and_probabilities_are_those_of_the_listed_words(name: str, where: str) -> None:
    world, words = SMALL[where]
    mechanism = build(name, world, 1.4, 2, on_infeasible="nearest")
    if mechanism is None:
        assert where == "plans"
        return
    for word in words:
        expected = reference_law(name, mechanism, word)
        outputs = [v for v in feasible_words(world, len(word)) if v in expected]
        assert math.fsum(expected.values()) == pytest.approx(1.0, abs=1e-12)
        codes = np.array([world.encode(v) for v in outputs])
        found = np.exp(mechanism.log_probabilities(world.encode(word), codes))
        assert found == pytest.approx([expected[v] for v in outputs], rel=1e-10)
        by_errors = [math.fsum(p for v, p in expected.items() if hamming(v, word) == k) for k in range(len(word) + 1)]
        law = mechanism.error_law(word)
        assert law.pmf == pytest.approx(by_errors, rel=1e-10, abs=1e-15)


def test_quantiles_are_reached_in_spite_of_rounding() -> None:
    with np.errstate(divide="ignore"):
        law = ErrorLaw(np.log(np.array([0.25, 0.0, 0.5, 0.25 - 1e-13])))
    assert [law.quantile(q) for q in (0.0, 0.25, 0.2500001, 0.75, 0.7500001, 1.0)] == [0, 0, 2, 2, 3, 3]
    assert law.mean == pytest.approx(1.75)
    assert law.variance == pytest.approx(0.25 * 1.75**2 + 0.5 * 0.25**2 + 0.25 * 1.25**2)
    for q in (-1e-9, 1 + 1e-9, math.nan):
        with pytest.raises(pv.InvalidParameterError, match="from 0 to 1"):
            law.quantile(q)


@pytest.mark.parametrize(("n", "m", "epsilon", "adjacency"), [(3, 2, 1.0, 1), (4, 2, 4.0, 2), (2, 4, 2.0, 1)])
def test_theorem_2_is_evaluated_as_printed(n: int, m: int, epsilon: float, adjacency: int) -> None:
    """Φ(ℓ) = P(ℓ)/(N(ℓ) e^(-θℓ)), from the law word by word."""
    world, word = pv.Alphabet(range(m)), (0,) * n
    theta = epsilon / (2 * adjacency)
    flip, plain = permute_and_flip_law(world, word, theta), exponential_law(world, word, theta)
    phi = {hamming(word, v): p / math.exp(-theta * hamming(word, v)) for v, p in flip.items()}
    mean = math.fsum(p * phi[hamming(word, v)] for v, p in plain.items())
    upper = math.fsum(p * hamming(word, v) for v, p in plain.items())
    low, high = pv.permute_and_flip_bounds(n, m, epsilon, adjacency)
    assert high == pytest.approx(upper, rel=1e-12)
    assert low == pytest.approx(upper - n * (phi[0] - phi[n]) / (4 * mean), rel=1e-9)


def test_one_symbol_leaves_no_room_for_errors() -> None:
    assert pv.permute_and_flip_bounds(3, 1, 1.0) == (0.0, 0.0)
    for arguments in [(0, 2, 1.0), (3, 0, 1.0), (3, 2, 0.0), (3, 2, 1.0, 0)]:
        with pytest.raises(pv.InvalidParameterError):
            pv.permute_and_flip_bounds(*arguments)  # type: ignore[arg-type]


def test_the_tail_bound_is_evaluated_as_printed() -> None:
    assert pv.permute_and_flip_tail_bound(20, 15.0) == pytest.approx(2 * math.exp(-2 * 225 / 400))
    assert pv.permute_and_flip_tail_bound(7, 6.0) == pytest.approx(2 * math.exp(-2 * 36 / 49))
    assert pv.permute_and_flip_tail_bound(20, 1.0) == 1.0
    for deviation in (0.0, -1.0, math.nan):
        with pytest.raises(pv.InvalidParameterError, match="positive"):
            pv.permute_and_flip_tail_bound(20, deviation)


# -------------------------------------------------------------------------------------------- certificates


def test_one_certificate_is_made_for_each_length_or_for_all() -> None:
    each = pv.CertifiedExponential(TOGGLE, 2.0)
    assert (each.max_length, each.contexts) == (None, 40_000)
    assert each.certificate(3) is each.certificate(3)
    assert each.certificate(3) is not each.certificate(4)
    assert (each.certificate(3).length, each.certificate(3).up_to) == (3, False)
    assert each.theta(4) == each.certificate(4).theta
    one = pv.CertifiedExponential(TOGGLE, 2.0, max_length=4, contexts=7)
    assert (one.max_length, one.contexts) == (4, 7)
    assert one.certificate(1) is one.certificate(4)
    assert (one.certificate(1).length, one.certificate(1).up_to) == (4, True)
    with pytest.raises(pv.InvalidParameterError, match="a word of 5 symbols is longer than max_length=4"):
        one.certificate(5)
    with pytest.raises(pv.NoFeasibleWordError):
        pv.CertifiedExponential(pv.MarkovChain.from_edges([("a", "b")]), 1.0).certificate(3)
    for world in (pv.Alphabet("ab"), LETTERS):
        nearest = pv.CertifiedExponential(world, 2.0, 2, on_infeasible="nearest").certificate(3)
        assert nearest.theta == pytest.approx(0.5, rel=1e-9)
        assert "infeasible words are accepted" in nearest.method
    assert pv.CertifiedExponential(pv.Alphabet("ab"), 2.0, 2, max_length=9).certificate(3).up_to


def test_certified_probabilities_are_those_of_the_tilted_law() -> None:
    mechanism = pv.CertifiedExponential(TOGGLE, 2.0)
    outputs = feasible_words(TOGGLE, 3)
    codes = np.array([TOGGLE.encode(v) for v in outputs])
    expected = exponential_law(TOGGLE, tuple("aba"), mechanism.theta(3))
    found = np.exp(mechanism.log_probabilities(TOGGLE.encode("aba"), codes))
    assert found == pytest.approx([expected[v] for v in outputs], rel=1e-9)
    exact = pv.Exponential(TOGGLE, 2.0)
    expected = exponential_law(TOGGLE, tuple("aba"), exact.theta(3))
    assert np.exp(exact.log_probabilities(TOGGLE.encode("aba"), codes)) == pytest.approx(
        [expected[v] for v in outputs], rel=1e-9
    )


# ----------------------------------------------------------------------------- which way a batch is drawn


class Ways:
    """Notes which way a mechanism takes, instead of drawing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.taken: list[str] = []
        for module in (exponential, permute_and_flip):
            for name in ("draw_by_class", "free_blocks", "class_blocks"):
                monkeypatch.setattr(module, name, self._noting(name))
        monkeypatch.setattr(exponential, "draw_tilted", self._noting("draw_tilted"))

        def flip(*_: Any, feasible: bool) -> Any:
            self.taken.append(f"rejection of {'feasible' if feasible else 'any'} words")
            return None

        monkeypatch.setattr(permute_and_flip, "FlipByRejection", flip)
        for module in (exponential, permute_and_flip):
            monkeypatch.setattr(module, "run_blocks", lambda *_: None)

    def _noting(self, name: str) -> Any:
        def noted(*_: Any) -> list[Any]:
            self.taken.append(name)
            return []

        return noted

    def of(self, mechanism: Any, rows: np.ndarray) -> list[str]:
        self.taken = []
        mechanism._draw(Words.from_rows(rows), pv.insecure_seed(1))
        return self.taken


def test_permute_and_flip_takes_the_way_that_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    ways = Ways(monkeypatch)
    rows = np.tile(np.array([[0, 1, 2, 0]]), (16, 1))
    chain, alphabet = pv.PermuteAndFlip(CHAIN, 1.0), pv.PermuteAndFlip(pv.Alphabet(range(3)), 1.0)
    assert ways.of(chain, rows) == ["draw_by_class"]
    assert ways.of(alphabet, rows) == ["draw_by_class"]
    for name in ("_SMALL", "_SMALL_FREE"):
        monkeypatch.setattr(class_batches, name, 0)
    # A table pays where each word stands there four times its length.
    assert ways.of(chain, rows) == ["class_blocks"]
    assert ways.of(chain, rows[:15]) == ["rejection of feasible words"]
    other = np.tile(np.array([[0, 0, 0, 0]]), (16, 1))
    assert ways.of(chain, np.concatenate([rows, other])) == ["class_blocks"]
    assert ways.of(chain, np.concatenate([rows, other[:15]])) == ["rejection of feasible words"]
    anything = pv.PermuteAndFlip(CHAIN, 1.0, on_infeasible="nearest")
    assert ways.of(anything, rows[:15]) == ["rejection of any words"]
    monkeypatch.setattr(permute_and_flip, "table_fits", lambda *_: False)
    assert ways.of(chain, rows) == ["rejection of feasible words"]
    # On free alphabets the law itself is computed for up to 64 symbols.
    assert ways.of(alphabet, rows) == ["free_blocks"]
    assert ways.of(alphabet, np.zeros((2, 64), dtype=np.int64)) == ["free_blocks"]
    assert ways.of(alphabet, np.zeros((2, 65), dtype=np.int64)) == ["draw_by_class"]
    assert ways.of(alphabet, np.zeros((2, 1_001), dtype=np.int64)) == ["rejection of feasible words"]


def test_the_exponential_mechanism_takes_the_way_that_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    ways = Ways(monkeypatch)
    rows = np.tile(np.array([[0, 1, 2, 0]]), (16, 1))
    assert ways.of(pv.Exponential(CHAIN, 1.0), rows) == ["draw_tilted"]
    utility = pv.InverseUtility()
    chain = pv.Exponential(CHAIN, 1.0, utility=utility)
    alphabet = pv.Exponential(pv.Alphabet(range(3)), 1.0, utility=utility)
    assert ways.of(chain, rows) == ["draw_by_class"]
    for name in ("_SMALL", "_SMALL_FREE"):
        monkeypatch.setattr(class_batches, name, 0)
    assert ways.of(chain, rows) == ["class_blocks"]
    assert ways.of(alphabet, rows) == ["free_blocks"]
    assert ways.of(alphabet, np.zeros((2, 64), dtype=np.int64)) == ["free_blocks"]
    assert ways.of(alphabet, np.zeros((2, 1_001), dtype=np.int64)) == ["draw_by_class"]
    monkeypatch.setattr(exponential, "table_fits", lambda *_: False)
    assert ways.of(chain, rows) == ["draw_by_class"]


def test_rejection_blocks_cover_every_word_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """More words than a block holds, each drawn from its own place. False-alarm probability 1e-6."""
    monkeypatch.setattr(class_batches, "_SMALL", 0)
    monkeypatch.setattr("pathveil.words.tilted.draw._BLOCK_CELLS", 800)
    monkeypatch.setattr(permute_and_flip, "_REPEATS", 10**9)
    mechanism = pv.PermuteAndFlip(CHAIN, 2.0)
    rows = np.tile(np.array([[0, 1, 2], [2, 2, 0]]), (1_000, 1))
    private = mechanism.privatize_array(rows, rng=pv.insecure_seed(1))
    for k, word in enumerate([(0, 1, 2), (2, 2, 0)]):
        drawn = [tuple(row) for row in private[k::2].tolist()]
        assert chi_square_p_value(drawn, permute_and_flip_law(CHAIN, word, mechanism.theta(3))) > FALSE_ALARM
    exact = pv.PermuteAndFlip(CHAIN, 1e6)
    assert exact.privatize_array(rows).tolist() == rows.tolist()
