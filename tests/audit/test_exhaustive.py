import pytest

import pathveil as pv


class TooLittleNoise(pv.PermuteAndFlip):
    """A planted bug: θ = ε/b is right for the online mechanism, not for permute-and-flip."""

    def theta(self, length: int) -> float:
        return 2 * super().theta(length)


CHAIN = pv.MarkovChain.from_edges([(0, 0), (0, 1), (1, 0), (1, 2), (2, 2), (2, 0), (1, 1)])


def test_the_audit_finds_a_mechanism_that_breaks_its_claim_and_names_the_words() -> None:
    audit = pv.audit_exhaustively(TooLittleNoise(CHAIN, 2.0), length=4)
    assert not audit.holds
    assert audit.loss > 2.0
    mechanism = TooLittleNoise(CHAIN, 2.0)
    difference = mechanism.log_probability(audit.word, audit.output) - mechanism.log_probability(
        audit.neighbour, audit.output
    )
    assert difference == pytest.approx(audit.loss)
    assert sum(a != b for a, b in zip(audit.word, audit.neighbour, strict=True)) == 1


def test_the_audit_counts_adjacent_pairs() -> None:
    assert pv.audit_exhaustively(pv.Exponential(pv.Alphabet("ab"), 1.0), length=3).pairs == 8 * 3
    assert pv.audit_exhaustively(pv.Exponential(pv.Alphabet("ab"), 1.0, adjacency=2), length=3).pairs == 8 * 6


def test_without_adjacent_words_there_is_no_loss() -> None:
    two_apart = pv.MarkovChain.from_edges([("a", "b"), ("b", "a")])
    audit = pv.audit_exhaustively(pv.PermuteAndFlip(two_apart, 1.0), length=2)
    assert (audit.loss, audit.pairs, audit.word) == (0.0, 0, None)


def test_too_many_words_are_refused_before_they_are_listed() -> None:
    with pytest.raises(pv.TooLargeError, match="shorter length"):
        pv.audit_exhaustively(pv.Exponential(pv.Alphabet("abcdef"), 1.0), length=12)


def test_the_loss_of_the_online_mechanism_is_attained() -> None:
    assert pv.audit_exhaustively(pv.Online(pv.Alphabet("abc"), 1.0), length=3).loss == pytest.approx(1.0)
