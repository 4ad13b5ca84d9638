"""Goodness of fit with a stated false-alarm probability, shared by all sampling tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping

import numpy as np
from scipy import stats

FALSE_ALARM = 1e-6


def counted_rows(rows: np.ndarray) -> dict[tuple[int, ...], int]:
    """How often each row is there."""
    different, counts = np.unique(rows, axis=0, return_counts=True)
    return dict(zip(map(tuple, different.tolist()), counts.tolist(), strict=True))


def chi_square_p_value(draws: Iterable[Hashable] | Mapping[Hashable, int], law: Mapping[Hashable, float]) -> float:
    """How likely draws, or counts of draws, from this law are to fit it as badly as these do. An impossible one: 0.

    Outcomes that are expected fewer than ten times are taken together, and with the rarest other one if that is still
    too few, so that the chi-square law applies. Two outcomes have the binomial law, whatever is expected of them.
    """
    counts = Counter(draws)
    if any(law.get(draw, 0.0) == 0.0 for draw in counts):
        return 0.0
    total = counts.total()
    expected = np.array([law[outcome] * total for outcome in law])
    observed = np.array([counts[outcome] for outcome in law])
    rare = expected < 10
    if rare.any() and expected[rare].sum() < 10 and np.count_nonzero(~rare) > 1:
        rare[np.flatnonzero(~rare)[np.argmin(expected[~rare])]] = True
    if rare.any():
        expected = np.append(expected[~rare], expected[rare].sum())
        observed = np.append(observed[~rare], observed[rare].sum())
    if len(expected) == 2:
        return float(stats.binomtest(int(observed[1]), total, min(1.0, expected[1] / total)).pvalue)
    statistic = float(((observed - expected) ** 2 / np.maximum(expected, 1e-12)).sum())
    return float(stats.chi2.sf(statistic, max(len(expected) - 1, 1)))
