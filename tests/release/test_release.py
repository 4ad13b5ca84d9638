"""The steps of a release: in their order, once each, and what is left behind when one of them fails."""

from __future__ import annotations

from pathlib import Path

import pytest

import pathveil as pv
from pathveil import data
from pathveil.release import Release, WordChoices, release_words, runner_for

PROMISE = pv.PermuteAndFlip(pv.Alphabet("abc"), epsilon=1.0).guarantee


@pytest.fixture
def ledger(tmp_path: Path) -> pv.Ledger:
    return pv.Ledger.create(tmp_path / "budget.db", epsilon=3.0, unit=pv.units.Symbols(1))


def release(ledger: pv.Ledger | None, **options) -> Release:
    return Release(ledger, command="c", request="r", **options)


def test_a_release_is_charged_sealed_and_completed(ledger):
    with release(ledger) as steps:
        assert steps.charge(PROMISE)["epsilon"] == 1.0
        assert ledger.to_dict()["charges"][0]["status"] == "charged, not completed"
        steps.seal("sha256:abc")
    [charge] = ledger.to_dict()["charges"]
    assert (charge["status"], charge["output"]) == ("completed", "sha256:abc")


def test_without_a_ledger_the_steps_are_the_same_and_nothing_is_charged():
    with release(None) as steps:
        assert steps.charge(PROMISE) is None
        steps.seal()
    assert steps.cost is None


def fail(steps: Release, *, sealed: bool) -> None:
    """A run that dies before or after its seal."""
    with steps:
        steps.charge(PROMISE)
        if sealed:
            steps.seal("x")
        raise OSError("full")


@pytest.mark.parametrize("order", [(), ("charge",), ("seal",), ("charge", "charge"), ("charge", "seal", "seal")])
def test_steps_out_of_order_are_a_mistake_that_publishes_nothing(ledger, order):
    calls = {"charge": lambda steps: steps.charge(PROMISE), "seal": lambda steps: steps.seal("x")}

    def take_steps() -> None:
        with release(ledger) as steps:
            for name in order:
                calls[name](steps)

    with pytest.raises(AssertionError):
        take_steps()


def test_a_failure_before_the_seal_can_be_resumed_and_one_after_it_cannot(ledger):
    told: list[str] = []
    with pytest.raises(OSError, match="full"):
        fail(release(ledger), sealed=False)
    with pytest.raises(OSError, match="full"):
        fail(release(ledger, resume=True, notice=told.append), sealed=True)
    assert ledger.spent.epsilon == 1
    assert told == []
    with release(ledger, resume=True, notice=told.append) as steps:
        steps.charge(PROMISE)
        steps.seal("y")
    assert ledger.spent.epsilon == 2
    assert "cannot be resumed" in told[0]


def test_a_run_that_does_not_resume_is_told_of_the_open_charge(ledger):
    told: list[str] = []
    with pytest.raises(OSError, match="full"):
        fail(release(ledger), sealed=False)
    with release(ledger, notice=told.append) as steps:
        steps.charge(PROMISE)
        steps.seal("x")
    assert "charged again" in told[0]
    assert ledger.spent.epsilon == 2


def test_if_completing_fails_the_error_says_that_the_output_is_out(ledger, monkeypatch):
    def gone(*_args, **_kwargs):
        raise pv.LedgerError("the disk is gone")

    monkeypatch.setattr(ledger, "complete", gone)
    steps = release(ledger)
    steps.charge(PROMISE)
    steps.seal("x")
    with pytest.raises(pv.LedgerError, match=r"paid for\..*the disk is gone"):
        steps.__exit__(None, None, None)


def test_words_that_became_longer_after_their_price_was_known_are_not_released(tmp_path):
    """Otherwise the charge would be that of the shorter words."""
    ledger = pv.Ledger.create(tmp_path / "budget.db", epsilon=100.0, unit=pv.units.SameLength())
    path, output = tmp_path / "words.txt", tmp_path / "private.txt"
    path.write_text("abc\n")
    runner = runner_for("embedded", None, [str(path)], data.TextLines(""))
    whole_check = runner.check

    def check_and_exchange(*arguments):
        found = whole_check(*arguments)
        path.write_text("abcabcabc\n")
        return found

    runner.check = check_and_exchange
    mechanism = pv.PermuteAndFlip(pv.Alphabet("abc"), epsilon=1.0)
    with pytest.raises(pv.DataFileError, match="changed"), release(ledger) as steps:
        release_words(runner, mechanism, output, steps, WordChoices())
    assert ledger.spent.epsilon == 0
    assert not output.exists()


def test_python_users_release_words_with_the_same_steps(tmp_path):
    ledger = pv.Ledger.create(tmp_path / "budget.db", epsilon=100.0, unit=pv.units.SameLength())
    path, output = tmp_path / "words.txt", tmp_path / "private.txt"
    path.write_text("abc\nab\n")
    runner = runner_for("embedded", None, [str(path)], data.TextLines(""))
    mechanism = pv.PermuteAndFlip(pv.Alphabet("abc"), epsilon=1.0)
    with release(ledger) as steps:
        summary = release_words(runner, mechanism, output, steps, WordChoices())
    assert summary.words_released == 2
    assert sorted(map(len, output.read_text().split())) == [2, 3]
    assert ledger.spent.epsilon == 3
    assert ledger.to_dict()["charges"][0]["status"] == "completed"
