"""Real files from end to end. They lie in `shared/data` beside the repository, or where PATHVEIL_DATA says."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import pathveil as pv
from pathveil import data
from tests.data.files import faithful, read_xes, write_xes
from tests.real_data import FOLDER, needs_real_data

pytestmark = [pytest.mark.slow, needs_real_data]


def vocabulary(name: str) -> list[str]:
    with open(FOLDER / f"{name}_vocab.csv", encoding="utf-8") as file:
        return [row[1] for row in csv.reader(file)][1:]


def test_a_million_visits_go_from_file_to_file(tmp_path: Path) -> None:
    world = pv.Alphabet([str(i) for i in range(17)])
    mechanism = pv.CertifiedExponential(world, epsilon=2.0)
    output = tmp_path / "private.parquet"
    summary = data.privatize_file(FOLDER / "msnbc.parquet", data.ListColumn("seq"), mechanism, output)
    assert summary.words_released == 989_818
    before, after = pq.read_table(FOLDER / "msnbc.parquet")["seq"], pq.read_table(output)["seq"]
    assert after.type.value_type == before.type.value_type
    lengths = [pc.value_counts(pc.list_value_length(column)).to_pylist() for column in (before, after)]
    assert Counter({x["values"]: x["counts"] for x in lengths[0]}) == Counter(
        {x["values"]: x["counts"] for x in lengths[1]}
    )
    # Randomized response: each symbol stays with probability p, otherwise becomes one of the 16 others. The counts
    # of 4.7 million symbols are within 6 standard deviations of what that predicts: false alarm below 1e-7.
    true, found = (
        np.bincount(column.combine_chunks().flatten().to_numpy(), minlength=17) for column in (before, after)
    )
    p = 1 / (1 + 16 * np.exp(-mechanism.theta(1)))
    expected = p * true + (1 - p) / 16 * (true.sum() - true)
    assert np.all(np.abs(found - expected) < 6 * np.sqrt(true.sum() * 0.25))
    assert not np.all(np.abs(found - true) < 6 * np.sqrt(true.sum() * 0.25))  # the control: unchanged data fail


def test_the_help_desk_log_goes_through_xes_and_back(tmp_path: Path) -> None:
    names = vocabulary("helpdesk")
    words = [[names[i] for i in word] for word in pq.read_table(FOLDER / "helpdesk.parquet")["seq"].to_pylist()]
    write_xes(tmp_path / "helpdesk.xes.gz", words)
    output = tmp_path / "private.xes.gz"
    data.privatize_file(tmp_path / "helpdesk.xes.gz", data.EventLog(), faithful(pv.Alphabet(names)), output)
    assert sorted(read_xes(output)) == sorted(words)


def test_bike_days_stay_on_a_public_graph(tmp_path: Path) -> None:
    stations = [str(i) for i in range(len(vocabulary("bikeshare2014_bike_day")))]
    world = pv.MarkovChain.from_edges([(a, b) for a in stations for b in stations])
    summary = data.privatize_file(
        FOLDER / "bikeshare2014_bike_day.parquet",
        data.ListColumn("seq"),
        pv.Online(world, epsilon=5.0),
        tmp_path / "private.parquet",
    )
    assert summary.words_released == 115_186


def test_flights_are_counted_as_pairs() -> None:
    airports = range(len(vocabulary("flights3m")))
    found = data.count_transitions(FOLDER / "flights3m_od.parquet", data.PairColumns("o", "d"), airports)
    assert found.counts.sum() == 3_000_000
    assert np.count_nonzero(found.counts) == 3_399
