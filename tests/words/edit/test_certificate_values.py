"""The certificate for edit distance: its bounds script by script, its formula, and the choice of the tilt."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from functools import cache
from math import log

import mpmath
import numpy as np
import pytest

import pathveil as pv
from pathveil.words.edit import certificate as edit_certificate
from pathveil.words.edit.certificate import _change, neighbour_bounds, published_edit_certificate
from pathveil.words.edit.length_range import LengthRange
from tests.reference.edits import words_in_range

# In these systems no two words of a length agree in their state and their last two symbols, so nothing is rounded up
# by joining words.
ROUND = pv.MarkovChain.from_edges([("a", "b"), ("b", "c"), ("c", "a")])
DOORS = pv.TransitionSystem(
    {(0, "a"): 1, (0, "b"): 1, (0, "c"): 0, (1, "b"): 2, (2, "a"): 2, (2, "b"): 0}, initial=0, accepting={0, 2}
)
LETTERS = pv.Alphabet("abcd")


def tidy_scripts(world, word, cap):
    """How many tidy scripts with 0, ..., cap - 1 edits turn the word into an accepted one, each tried in turn."""
    compiled = world.compiled

    @cache
    def scripts(done, y, step, edits):
        """Scripts from here on, `done` symbols of the word being accounted for; `step` was the last one."""
        if edits < 0:
            return 0
        moves = compiled.moves[y]
        last = word[done - 1] if done else None
        found = int(done == len(word) and edits == 0 and bool(compiled.accepting[y]))
        if step in ("match", "insertion"):
            allowed = [to for a, to in moves.items() if step == "insertion" or a != last]
            found += sum(scripts(done, to, "insertion", edits - 1) for to in allowed)
        if done < len(word):
            own = word[done]
            if step == "deletion" or (step == "match" and (own != last or compiled.is_free)):
                found += scripts(done + 1, y, "deletion", edits - 1)
            for a, to in moves.items():
                found += scripts(done + 1, to, *(("match", edits) if a == own else ("substitution", edits - 1)))
        return found

    return [scripts(0, compiled.start, "match", edits) for edits in range(cap)]


@pytest.mark.parametrize(
    ("world", "lo", "hi", "cap"),
    [(ROUND, 2, 6, 4), (ROUND, 3, 3, 1), (DOORS, 1, 2, 5), (DOORS, 2, 2, 3), (LETTERS, 1, 4, 4), (LETTERS, 3, 3, 2)],
)
def test_the_bounds_are_the_largest_numbers_of_tidy_scripts(world, lo, hi, cap):
    bounds = neighbour_bounds(LengthRange(world.compiled, lo, hi), cap)
    words = [tuple(world.encode(word).tolist()) for word in words_in_range(world, lo, hi)]
    expected = np.max([tidy_scripts(world, word, cap) for word in words], axis=0)
    assert bounds == pytest.approx(expected, rel=2e-9)
    assert (bounds >= expected).all()


def test_words_that_end_alike_share_the_larger_of_their_numbers():
    # Of the words xab and yab, one may have more scripts that end in one way and the other more that end in another.
    bounds = neighbour_bounds(LengthRange(DOORS.compiled, 4, 6), 4)
    words = [tuple(DOORS.encode(word).tolist()) for word in words_in_range(DOORS, 4, 6)]
    true = np.max([tidy_scripts(DOORS, word, 4) for word in words], axis=0)
    assert (bounds >= true).all()
    assert (bounds <= 1.5 * true).all()


def test_one_edit_of_a_free_word_is_counted_by_hand():
    # Seven symbols, five letters: substitutions; insertions, any at the beginning and others than the one before
    # elsewhere; deletions.
    bounds = neighbour_bounds(LengthRange(pv.Alphabet("abcde").compiled, 2, 7), 2)
    assert bounds == pytest.approx([1, 7 * 4 + (5 + 7 * 4) + 7], rel=2e-9)


def change(bounds, total, theta):
    """K(θ) with 40 digits."""
    cap = len(bounds)
    with mpmath.workdps(40):
        z = mpmath.exp(-mpmath.mpf(theta))
        upper = total * z**cap + sum(b * (z**d - z**cap) for d, b in enumerate(bounds))
        return upper, 1 + (total - 1) * z**cap


@pytest.mark.parametrize("theta", [0.01, 0.5, 1.0, 3.0, 12.0, 80.0])
@pytest.mark.parametrize(
    ("bounds", "total"), [([1.0, 13.0, 21.0], 39), ([1.0], 7), ([1.0, 0.0, 5.0, 0.0], 6), ([1.0, 9e9, 4e20], 10**30)]
)
def test_the_change_of_the_normaliser_is_rounded_up_and_hardly_so(bounds, total, theta):
    upper, lower = change(bounds, total, theta)
    exact = float(mpmath.log(upper / lower))
    with np.errstate(divide="ignore"):
        found = _change(np.log(bounds), log(total), theta)
    room = 1e-9 * (1 + abs(float(mpmath.log(upper))) + abs(float(mpmath.log(lower))))
    assert max(exact, 0.0) + 0.99 * room <= found <= max(exact, 0.0) + 1.01 * room


def test_bounds_that_are_smaller_than_the_words_there_are_never_gain_anything():
    # Impossible bounds: the ratio would be below 1, and the loss negative.
    with np.errstate(divide="ignore"):
        assert _change(np.log([0.5, 0.0]), log(1000), 1.0) == pytest.approx(1e-9 * 6, rel=1)
        assert _change(np.log([0.5, 0.0]), log(1000), 1.0) > 0


@pytest.mark.parametrize(("cap", "adjacency", "reach"), [(3, 1, 1), (3, 2, 2), (2, 5, 2), (1, 1, 1)])
def test_the_largest_tilt_of_the_grid_that_is_proven_is_taken(cap, adjacency, reach):
    words = LengthRange(DOORS.compiled, 2, 5)
    epsilon = 7.0
    certificate = edit_certificate.edit_certificate(words, cap, epsilon, adjacency)
    bounds = neighbour_bounds(words, cap)
    upper, lower = change(bounds, words.total, certificate.theta)
    assert certificate.distance_loss == certificate.theta * reach
    assert certificate.normaliser_loss == pytest.approx(float(mpmath.log(upper / lower)), abs=1e-7)
    assert certificate.loss == certificate.distance_loss + certificate.normaliser_loss <= epsilon
    assert certificate.how == "bounds on the numbers of words at each distance"
    # Four hundred candidates, from ε/b down to ε/2b.
    step = epsilon / (2 * reach) / 400
    place = (epsilon / reach - certificate.theta) / step
    assert place == pytest.approx(round(place), abs=1e-6)
    assert 1 <= round(place) < 400
    upper, lower = change(bounds, words.total, certificate.theta + step)
    assert (certificate.theta + step) * reach + float(mpmath.log(upper / lower)) > epsilon


def test_where_nothing_larger_is_proven_the_published_tilt_is_used():
    words = LengthRange(DOORS.compiled, 2, 5)
    certificate = edit_certificate.edit_certificate(words, 3, 0.5, 1)
    assert certificate.how == "the published calibration: no larger θ can be certified at this ε"
    assert (certificate.theta, certificate.distance_loss, certificate.normaliser_loss) == (0.25, 0.25, 0.25)
    assert certificate.loss == 0.5


@pytest.mark.parametrize(("cap", "adjacency", "reach"), [(4, 1, 1), (4, 3, 3), (2, 3, 2)])
def test_the_published_certificate_pays_twice_for_the_distance(cap, adjacency, reach):
    certificate = published_edit_certificate(cap, 6.0, adjacency, "for a reason")
    assert certificate.theta == 6.0 / (2 * reach)
    assert (certificate.distance_loss, certificate.normaliser_loss, certificate.loss) == (3.0, 3.0, 6.0)
    assert certificate.how == "the published calibration: for a reason"
    with pytest.raises(FrozenInstanceError):
        certificate.theta = 12.0


def test_the_bound_of_a_very_small_tilt_keeps_its_digits():
    # 1 - z^c is lost in rounding unless it is taken by expm1.
    theta, total = 1e-12, 50
    found = _change(np.log([1.0, 20.0]), log(total), theta)
    upper, lower = change([1.0, 20.0], total, theta)
    assert found == pytest.approx(float(mpmath.log(upper / lower)), abs=1e-8)
