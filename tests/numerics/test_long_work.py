"""Messages before long work: said once, in time, and only if the work is long."""

import itertools
import logging

import pytest

import pathveil as pv
from pathveil.cli.app import main
from pathveil.numerics import long_work
from pathveil.numerics.long_work import LongWork


def clock(monkeypatch, step):
    ticks = itertools.count(0.0, step)
    monkeypatch.setattr(long_work.time, "monotonic", lambda: next(ticks))


def test_an_estimate_of_long_work_is_said_before_anything_is_done(caplog):
    LongWork("sorting", 3, seconds=75, advice="sort less")
    assert caplog.messages == ["sorting will take about 75 s; sort less"]


def test_after_the_first_of_several_slow_parts_the_rest_is_announced_once(monkeypatch, caplog):
    clock(monkeypatch, 60.0)
    work = LongWork("sorting", 5)
    for _ in range(5):
        work.part_done()
    assert caplog.messages == ["sorting will take about 4 minutes more"]


@pytest.mark.parametrize(("step", "parts"), [(2.0, 6), (100.0, 1)])
def test_nothing_is_said_where_little_is_left_to_do(step, parts, monkeypatch, caplog):
    clock(monkeypatch, step)
    work = LongWork("sorting", parts)
    for _ in range(parts + 1):  # one more than was thought
        work.part_done()
    assert not caplog.messages


def test_proofs_for_many_lengths_are_announced_with_what_would_be_quicker(monkeypatch, caplog):
    clock(monkeypatch, 20.0)
    pv.CertifiedExponential(pv.Alphabet("ab"), 1.0).prepare([3, 4, 5, 5])
    assert caplog.messages == [
        "a proof for each length of words will take about 40 s more; `max_length=5` takes one proof for all of them"
    ]


def test_a_proof_on_a_large_map_is_announced_before_it_begins(monkeypatch, caplog):
    clock(monkeypatch, 0.0)
    monkeypatch.setattr("pathveil.words.certificate.certificate.least_work", lambda *_: 7e9)
    pv.CertifiedExponential(pv.example_town(), 9.0, contexts=1).prepare([4])
    assert caplog.messages == ["the proof for words of 4 symbols at ε = 9 will take about 6 minutes"]


@pytest.mark.parametrize(("options", "said"), [([], True), (["--quiet"], False)])
def test_commands_pass_messages_on_unless_they_are_to_be_quiet(options, said, monkeypatch, capsys, tmp_path):
    (tmp_path / "letters.txt").write_text("a\nb\n")
    clock(monkeypatch, 20.0)
    page = ["--alphabet", str(tmp_path / "letters.txt"), "--length", "3", "-o", str(tmp_path / "plan.html")]
    try:
        assert main(["report", "plan", *page, *options]) == 0
    finally:
        logging.getLogger("pathveil").handlers = []
    assert ("pathveil: the errors at every ε and b will take about" in capsys.readouterr().err) == said
