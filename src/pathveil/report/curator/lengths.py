"""The curator's report of a release that protects lengths: how long words are, before and after."""

from __future__ import annotations

import numpy as np

from pathveil.markup import Html, tag
from pathveil.report.charts import Bars, Series
from pathveil.report.curator.comparison import Comparison
from pathveil.report.page import Page


def lengths_before_and_after(page: Page, found: Comparison) -> list[Html]:
    """How long words are here and there; and for rows that belong together, by how much each has changed."""
    before, after = found.sensitive.lengths, found.private.lengths
    last = int(max(before.max(), after.max()))
    first = int(min(before.min(), after.min()))
    shares = [np.bincount(one, minlength=last + 1)[first:] / len(one) for one in (before, after)]
    chart = Bars(
        "How long words are",
        [str(length) for length in range(first, last + 1)],
        [Series("sensitive", shares[0].tolist(), 0), Series("private", shares[1].tolist(), 1)],
        "symbols",
        "share of words",
    )
    parts = [
        tag(
            "p",
            "The release protects the length of each word. Compared with the sensitive words, private ones have "
            f"{float(after.mean() - before.mean()):+.3g} symbols on average.",
        ),
        page.chart("lengths", chart),
    ]
    if not found.paired:
        return parts
    changes = after - before
    found_changes, times = np.unique(changes, return_counts=True)
    every = range(int(found_changes[0]), int(found_changes[-1]) + 1)
    counted = dict(zip(found_changes.tolist(), times.tolist(), strict=True))
    changed = Bars(
        "By how many symbols the length has changed",
        [f"{change:+d}" if change else "0" for change in every],
        [Series("observed in the release", [counted.get(change, 0) / len(changes) for change in every], 0)],
        "change of the length",
        "share of words",
    )
    return [
        *parts,
        page.chart("length-changes", changed),
        tag("p", f"The length of {int((changes != 0).sum()):,} of {len(changes):,} words has changed."),
    ]
