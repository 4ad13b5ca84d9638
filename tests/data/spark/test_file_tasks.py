"""Tasks from files to files, without Spark: the same files at every attempt, words independent, orders uniform."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Sequence
from itertools import count, pairwise, permutations
from math import exp
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

import pathveil as pv
from pathveil import data
from pathveil.data.reading.checking import checker_for
from pathveil.data.spark import file_tasks
from pathveil.data.spark.file_tasks import Checking, Drawing, Drawn, Plan
from pathveil.data.spark.row_groups import files_for_tasks, kept_columns, row_groups
from pathveil.data.writing.drawing import gathered
from pathveil.randomness.derived import DerivingKey
from pathveil.randomness.source import RandomSource
from tests.data.files import faithful
from tests.data.spark.frames import write_words
from tests.statistics import FALSE_ALARM, chi_square_p_value

COINS = pv.Alphabet("01")
LISTS = data.ListColumn("word")


class Arrived:
    """What a plan is on an executor."""

    def __init__(self, value: Plan) -> None:
        self.value = value


class OneStreamFor(DerivingKey):
    """A planted error: all keystreams for this purpose are the same one."""

    def __init__(self, source: RandomSource, purpose: str) -> None:
        super().__init__(source)
        self._purpose = purpose

    def source(self, *name: str | int | bytes) -> RandomSource:
        return super().source(*(name if name[0] != self._purpose else name[:1]))


def planned(
    source: Path | list[Path],
    mechanism: pv.WordMechanism,
    *,
    layout: data.Layout = LISTS,
    tasks: int = 3,
    keep: Sequence[str] = ("id",),
    on_bad_row: str = "fail",
) -> Plan:
    files = files_for_tasks(source, layout, None)
    groups = row_groups(files, layout, keep)
    shares = sorted({len(groups) * i // tasks for i in range(tasks + 1)})
    kept = tuple(kept_columns(files[0], keep))
    kind = checker_for(mechanism, "fail").symbols.written_type(layout.value_type(files))
    return Plan(mechanism, layout, tuple(groups), tuple(shares), tuple(keep), kept, kind, on_bad_row)


_runs = count()


def run(
    folder: Path, plan: Plan, key: DerivingKey, *, piles: int = 4, keep_order: bool = False, attempts: int = 1
) -> tuple[Path, list[Drawn]]:
    """The folder that a job makes, and what its tasks say; each task is done so many times, the last ones first."""
    workspace = folder / f"workspace-{next(_runs)}"
    workspace.mkdir()
    job = Drawing(Arrived(plan), pv.__version__, key, piles, keep_order, workspace)
    job.make_folders()
    drawn = [job.draw(task) for _ in range(attempts) for task in reversed(range(plan.tasks))]
    for _ in range(attempts):
        for pile in reversed(range(piles)):
            job.write(pile)
    assert not list((workspace / "attempts").iterdir())
    return job.unfinished, drawn


def rows(folder: Path) -> list[tuple[int, str]]:
    table = pq.read_table(folder)
    return list(zip(table["id"].to_pylist(), map("".join, table["word"].to_pylist()), strict=True))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def coin_words(number: int) -> list[list[str]]:
    source = pv.insecure_seed(8)
    return [list(COINS.random_word(1 + i % 6, source)) for i in range(number)]


@pytest.mark.parametrize("kind", [pv.CertifiedExponential, pv.PermuteAndFlip, pv.Online])
def test_files_do_not_depend_on_the_number_of_tasks_and_attempts(tmp_path: Path, kind: type[pv.WordMechanism]) -> None:
    words = coin_words(100)
    source = [write_words(tmp_path / f"{name}.parquet", words) for name in "ab"]
    mechanism = kind(COINS, 0.5)
    seen = []
    for seed, tasks, attempts in ((3, 1, 1), (3, 4, 2), (3, 30, 1), (4, 4, 1)):
        plan = planned(source, mechanism, tasks=tasks)
        folder, _ = run(tmp_path, plan, DerivingKey(pv.insecure_seed(seed)), attempts=attempts)
        seen.append(contents(folder))
    assert seen[0] == seen[1] == seen[2]
    assert len(seen[0]) == 4
    assert seen[3] != seen[0]  # the comparison can fail
    assert sorted(number for number, _ in rows(folder)) == sorted([*range(100), *range(100)])


@settings(max_examples=40, deadline=None)
@given(lengths=st.lists(st.integers(1, 30), min_size=1, max_size=30), cuts=st.sets(st.integers(1, 29)))
def test_what_is_drawn_together_does_not_depend_on_the_batches_of_the_reader(
    lengths: list[int], cuts: set[int]
) -> None:
    whole = pa.RecordBatch.from_arrays([pa.array([[7] * length for length in lengths])], ["0"])
    bounds = [0, *sorted(cut for cut in cuts if cut < len(lengths)), len(lengths)]
    pieces = [whole.slice(begin, end - begin) for begin, end in pairwise(bounds)]
    together = [batch.to_pydict() for batch in gathered([whole], size=20)]
    assert [batch.to_pydict() for batch in gathered(pieces, size=20)] == together
    assert [word for batch in together for word in batch["0"]] == whole.column(0).to_pylist()
    assert all(sum(map(len, batch["0"][:-1])) <= 20 for batch in together)


def outputs(folder: Path, key: DerivingKey) -> list[str]:
    source = write_words(folder / "same.parquet", [list("0110")] * 4000, row_group_size=250)
    return [word for _, word in rows(run(folder, planned(source, pv.CertifiedExponential(COINS, 1.0)), key)[0])]


def test_words_have_the_law_of_the_mechanism_and_shared_streams_would_not(tmp_path: Path) -> None:
    # A false alarm has probability 1e-6.
    mechanism = pv.CertifiedExponential(COINS, 1.0)
    law = {f"{i:04b}": exp(mechanism.log_probability("0110", f"{i:04b}")) for i in range(16)}
    assert chi_square_p_value(outputs(tmp_path, DerivingKey(pv.insecure_seed(4))), law) > FALSE_ALARM
    # With one stream for all row groups, the same draws count sixteen times.
    shared = OneStreamFor(pv.insecure_seed(4), "words of")
    assert chi_square_p_value(outputs(tmp_path, shared), law) < FALSE_ALARM


def agreeing(folder: Path, key: DerivingKey) -> float:
    """How often rows with the same turn in two row groups, of one file or of two, get the same symbol."""
    source = [write_words(folder / f"{name}.parquet", [["0"]] * 600, row_group_size=300) for name in "ab"]
    plan = planned(source, pv.CertifiedExponential(COINS, 0.01))
    private = [word for _, word in rows(run(folder, plan, key, keep_order=True)[0])]
    first, second, third, fourth = (private[begin : begin + 300] for begin in range(0, 1200, 300))
    pairs = [*zip(first, second, strict=True), *zip(first, third, strict=True), *zip(second, fourth, strict=True)]
    return float(np.mean([a == b for a, b in pairs]))


def test_row_groups_are_independent_and_shared_streams_would_not_be(tmp_path: Path) -> None:
    # 900 pairs agree half of the time; fewer than a third or more than two thirds with a probability below 1e-15.
    assert 1 / 3 < agreeing(tmp_path, DerivingKey(pv.insecure_seed(5))) < 2 / 3
    assert agreeing(tmp_path, OneStreamFor(pv.insecure_seed(5), "words of")) == 1.0


ORDERS = {order: 1 / math.factorial(3) for order in permutations(range(3))}


def orders(folder: Path, purpose: str | None) -> list[tuple[int, ...]]:
    """The orders in which 3 rows of 2 row groups come, in 350 jobs with a key each, through two piles."""
    source = write_words(folder / "three.parquet", [["0"], ["1"], ["0"]], row_group_size=2)
    plan = planned(source, faithful(COINS), tasks=1)
    found = []
    for seed in range(350):
        secret = pv.insecure_seed(seed)
        key = DerivingKey(secret) if purpose is None else OneStreamFor(secret, purpose)
        made, _ = run(folder, plan, key, piles=2)
        found.append(tuple(number for number, _ in rows(made)))
        shutil.rmtree(made.parent)
    return found


@pytest.mark.slow
def test_every_order_of_the_output_is_equally_likely_and_careless_dealing_would_show(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A false alarm has probability 1e-6. In the control both row groups are dealt out alike.
    monkeypatch.setattr(file_tasks, "flush", lambda _: None)  # a power failure is not what this is about
    assert chi_square_p_value(orders(tmp_path, None), ORDERS) > FALSE_ALARM
    assert chi_square_p_value(orders(tmp_path, "piles of"), ORDERS) < FALSE_ALARM


def test_the_order_can_be_kept(tmp_path: Path) -> None:
    words = coin_words(100)
    source = [write_words(tmp_path / f"{name}.parquet", words) for name in "ab"]
    for piles in (1, 4, 64):
        folder, _ = run(
            tmp_path, planned(source, faithful(COINS)), DerivingKey(pv.insecure_seed(1)), piles=piles, keep_order=True
        )
        assert rows(folder) == [(i, "".join(word)) for i, word in enumerate(words)] * 2


@pytest.mark.parametrize("form", ["list", "dictionary", "text", "numbers"])
def test_words_and_kept_columns_keep_their_form(tmp_path: Path, form: str) -> None:
    lists = [[1, 2], [3], [2, 2, 1]]
    texts = pa.array([[str(symbol) for symbol in word] for word in lists])
    inner = texts.values.dictionary_encode()
    column = {
        "list": texts,
        "dictionary": pa.ListArray.from_arrays(texts.offsets, inner),
        "text": pa.array([">".join(map(str, word)) for word in lists]),
        "numbers": pa.array(lists, pa.list_(pa.uint16())),
    }[form]
    zone = pa.array(["x", None, "y"]).dictionary_encode()
    extra = pa.array([{"a": [1.5]}, None, {"a": []}])
    pq.write_table(pa.table({"other": [1, 2, 3], "w.x": column, "zone": zone, "extra": extra}), tmp_path / "in.parquet")
    layout = data.DelimitedColumn("w.x", ">") if form == "text" else data.ListColumn("w.x")
    plan = planned(tmp_path / "in.parquet", faithful(pv.Alphabet([1, 2, 3])), layout=layout, keep=["zone", "extra"])
    folder, drawn = run(tmp_path, plan, DerivingKey(pv.insecure_seed(1)), keep_order=True)
    table = pq.read_table(folder)
    assert table.column_names == ["w.x", "zone", "extra"]
    assert table.to_pydict() == {"w.x": column.to_pylist(), "zone": zone.to_pylist(), "extra": extra.to_pylist()}
    assert sum(task.symbols for task in drawn) == 6
    if form == "numbers":
        assert table.schema.field("w.x").type.value_type == pa.uint16()


def test_a_bad_row_is_named_and_its_content_is_not(tmp_path: Path) -> None:
    words = coin_words(30)
    source = write_words(tmp_path / "bad.parquet", [*words[:20], ["0", "Elsewhere"], *words[20:]])
    with pytest.raises(pv.UnknownSymbolError) as problem:
        Checking(Arrived(planned(source, faithful(COINS), tasks=1)), pv.__version__)(0)
    assert "bad.parquet, row 21, column 'word', position 2: the symbol" in str(problem.value)
    assert "Elsewhere" not in str(problem.value)
    plan = planned(source, faithful(COINS), on_bad_row="skip")
    folder, drawn = run(tmp_path, plan, DerivingKey(pv.insecure_seed(1)))
    assert sorted(number for number, _ in rows(folder)) == [*range(20), *range(21, 31)]
    assert sum(task.skipped for task in drawn) == 1


def test_a_word_of_a_length_that_is_not_promised_is_a_bad_row(tmp_path: Path) -> None:
    source = write_words(tmp_path / "words.parquet", [["0"], ["0", "1", "0"]])
    mechanism = pv.EditExponential(COINS, epsilon=1.0, lengths=(2, 4))
    with pytest.raises(pv.LengthMismatchError, match=r"row 1, column 'word': the word is shorter or longer"):
        Checking(Arrived(planned(source, mechanism, tasks=1)), pv.__version__)(0)


def test_a_file_that_changes_during_the_job_ends_it(tmp_path: Path) -> None:
    source = write_words(tmp_path / "words.parquet", coin_words(20))
    plan = planned(source, faithful(COINS), tasks=1)
    job = Checking(Arrived(plan), pv.__version__)
    lengths = job(0)
    assert (lengths.total(), set(lengths)) == (20, {1, 2, 3, 4, 5, 6})
    found = source.stat()
    os.utime(source, ns=(found.st_atime_ns, found.st_mtime_ns + 1))
    with pytest.raises(pv.DataFileError, match="has changed since the job began"):
        job(0)
    # Also if that happens while it is read.
    reading = planned(source, faithful(COINS), tasks=1).groups[-1].read(LISTS, [])
    next(reading)
    write_words(source, coin_words(21))
    with pytest.raises(pv.DataFileError, match="has changed since the job began"):
        list(reading)
    source.unlink()
    with pytest.raises(pv.DataFileError, match="a task cannot read the file"):
        job(0)


class Tired(pv.CertifiedExponential):
    """Gives up in the middle of a task."""

    left = 2

    def _draw(self, words, source):
        self.left -= 1
        if self.left < 0:
            raise OSError("the machine is gone")
        return super()._draw(words, source)


def test_a_task_that_fails_leaves_nothing_and_can_be_done_again(tmp_path: Path) -> None:
    source = write_words(tmp_path / "words.parquet", coin_words(60))
    key = DerivingKey(pv.insecure_seed(9))
    expected, _ = run(tmp_path, planned(source, pv.CertifiedExponential(COINS, 0.5), tasks=1), key, piles=1)
    mechanism = Tired(COINS, 0.5)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    job = Drawing(Arrived(planned(source, mechanism, tasks=1)), pv.__version__, key, 1, False, workspace)
    job.make_folders()
    with pytest.raises(OSError, match="gone"):
        job.draw(0)
    assert [path for path in workspace.rglob("*") if path.is_file()] == []
    with pytest.raises(pv.DataFileError, match="does not see what another one has written"):
        job.write(0)
    mechanism.left = 100
    job.draw(0)
    job.write(0)
    assert contents(job.unfinished) == contents(expected)


def test_another_version_on_an_executor_is_refused(tmp_path: Path) -> None:
    plan = Arrived(planned(write_words(tmp_path / "words.parquet", coin_words(5)), faithful(COINS)))
    old = Drawing(plan, "0.0.0", DerivingKey(pv.insecure_seed(1)), 1, False, tmp_path)
    for work in (Checking(plan, "0.0.0"), old.draw, old.write):
        with pytest.raises(pv.InvalidParameterError, match="Install the same everywhere"):
            work(0)


def test_input_that_tasks_cannot_read_is_refused(tmp_path: Path) -> None:
    source = write_words(tmp_path / "words.parquet", coin_words(5))
    pq.write_table(pa.table({"id": ["a"], "word": [["0"]]}), tmp_path / "other.parquet")
    (tmp_path / "words.csv").write_text("word\n0 1\n")
    mechanism = faithful(COINS)
    with pytest.raises(pv.DataFileError, match=r"other\.parquet: a column to keep has another type"):
        planned([source, tmp_path / "other.parquet"], mechanism)
    with pytest.raises(pv.DataFileError, match="no column 'wrod'"):
        planned(source, mechanism, layout=data.ListColumn("wrod"))
    with pytest.raises(pv.DataFileError, match="no column 'day'"):
        planned(source, mechanism, keep=["day"])
    with pytest.raises(pv.InvalidParameterError, match="released twice"):
        planned([source, source], mechanism)
    with pytest.raises(pv.InvalidParameterError, match="Parquet"):
        planned(tmp_path / "words.csv", mechanism, layout=data.DelimitedColumn("word"))
    with pytest.raises(pv.InvalidParameterError, match="standard input"):
        planned(Path("-"), mechanism)
