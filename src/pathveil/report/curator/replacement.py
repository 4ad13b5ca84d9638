"""How likely each symbol of a word is to be replaced, exactly, without drawing anything.

A release in random order does not say which private word belongs to which sensitive one, so replacements cannot be
counted. They can be computed: the curator knows the sensitive word, and the mechanism is public.
"""

from __future__ import annotations

from math import exp, log

import numpy as np

from pathveil.numerics.arrays import FloatArray, IntArray
from pathveil.systems.compiled import CompiledSystem
from pathveil.words.base import WordMechanism
from pathveil.words.distances import DistanceMechanism

_LARGEST_WORK = 50_000_000  # numbers that one word may take
_LARGEST_EXPONENT = 600.0  # class counts are kept as floating-point numbers between e^-600 and 1


def replacement_probabilities(mechanism: WordMechanism, codes: IntArray) -> FloatArray | None:
    """For each position the probability that another symbol comes out; None where that would take too long."""
    compiled = mechanism.world.compiled
    if isinstance(mechanism, DistanceMechanism) and mechanism.distance is not None:
        return mechanism.wrong_at(codes)
    if not mechanism.is_uniform_within_class:
        return _online(compiled, codes, mechanism.theta(len(codes)))
    widest = max(int(np.diff(compiled.offsets).max()), 1)
    too_long = len(codes) * log(widest) > _LARGEST_EXPONENT
    if too_long or len(codes) ** 2 * max(compiled.edge_count, compiled.state_count) > _LARGEST_WORK:
        return None
    law = mechanism.error_law(mechanism.world.decode(codes.tolist())).pmf
    return _by_class(compiled, codes, law, widest)


def _by_class(compiled: CompiledSystem, codes: IntArray, law: FloatArray, widest: int) -> FloatArray:
    """All words of a class are equally likely: P(i right) = Σ P(ℓ) C_i(ℓ)/N(ℓ).

    C_i(ℓ) counts the words with ℓ errors whose symbol i is right: ways to get there, times ways to go on. Counts are
    divided by `widest` at each step, so that they stay between 0 and 1.
    """
    n, states = len(codes), compiled.state_count
    forward = [np.zeros((states, n + 1))]
    forward[0][compiled.start, 0] = 1.0
    backward = [np.zeros((states, n + 1))]
    backward[0][:, 0] = compiled.accepting
    for code in codes:
        forward.append(_step(forward[-1], compiled.sources, compiled.targets, compiled.labels != code, widest))
    for code in codes[::-1]:
        backward.append(_step(backward[-1], compiled.targets, compiled.sources, compiled.labels != code, widest))
    backward.reverse()
    counts = backward[0][compiled.start]
    present = counts > 0
    wrong = np.empty(n)
    for i, code in enumerate(codes):
        sources, targets = compiled.edges_with_label(int(code))
        right = np.zeros(n + 1)
        for source, target in zip(sources, targets, strict=True):
            right += np.convolve(forward[i][source], backward[i + 1][target])[: n + 1] / widest
        wrong[i] = 1 - float(law[present] @ (right[present] / counts[present]))
    return np.clip(wrong, 0.0, 1.0)


def _step(mass: FloatArray, origin: IntArray, goal: IntArray, errs: FloatArray, widest: int) -> FloatArray:
    moved = mass[origin] / widest
    moved[errs, 1:] = moved[errs, :-1]
    moved[errs, 0] = 0.0
    after = np.zeros_like(mass)
    np.add.at(after, goal, moved)
    return after


def _online(compiled: CompiledSystem, codes: IntArray, theta: float) -> FloatArray:
    """Forward over the states: the true symbol has weight 1 where it is possible, every other e^-θ."""
    z = exp(-theta)
    degree = np.diff(compiled.offsets)
    mass = np.zeros(compiled.state_count)
    mass[compiled.start] = 1.0
    wrong = np.empty(len(codes))
    for i, code in enumerate(codes):
        right = compiled.labels == code
        possible = np.bincount(compiled.sources[right], minlength=compiled.state_count) > 0
        normaliser = np.where(possible, 1 + (degree - 1) * z, degree)
        weight = np.where(right | ~possible[compiled.sources], 1.0, z) / normaliser[compiled.sources]
        flow = mass[compiled.sources] * weight
        wrong[i] = 1 - flow[right].sum()
        mass = np.zeros(compiled.state_count)
        np.add.at(mass, compiled.targets, flow)
    return np.clip(wrong, 0.0, 1.0)
