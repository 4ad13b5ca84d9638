"""What a release costs in the unit of a budget: exact sums, δ after several steps, sentences that people read."""

from __future__ import annotations

from decimal import Decimal
from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

import pathveil as pv
from pathveil.ledger.amounts import amount_of
from pathveil.ledger.cost import buys, cost_in
from pathveil.privacy.units import Known, SameLength, Symbols, Transition, User, UserSymbols, Word
from tests.ledger.conftest import promise


def test_the_sentence_says_what_was_promised_what_it_costs_and_why():
    cost = cost_in(SameLength(), promise(2.0), Known(longest=3))
    assert cost.explanation == (
        "ε = 2 for one symbol: 6 in this budget's unit, a word of the same length, at most 3 symbols (3 steps)"
    )
    cost = cost_in(UserSymbols(4), promise(0.5), Known(longest=3))
    assert cost.explanation.endswith("(4 words of a person, 3 steps each; how many words a person has is public)")
    assert cost.amount.epsilon == 6


@settings(max_examples=200, deadline=None)
@given(
    st.floats(1e-12, 20.0),
    st.one_of(st.just(0.0), st.floats(1e-300, 1e-2)),
    st.integers(1, 40),
)
def test_epsilon_and_delta_after_several_steps_are_those_of_sixty_digits_rounded_up(epsilon, delta, steps):
    unit = Symbols(steps)
    with mp.workdps(60):
        exact = mpf(str(delta)) * mp.expm1(steps * mpf(str(epsilon))) / mp.expm1(mpf(str(epsilon)))
        try:
            amount = cost_in(unit, promise(epsilon, delta)).amount
        except pv.UnitMismatchError:
            assert exact > mpf("0.999")
            return
        assert amount.epsilon == steps * Decimal(repr(epsilon))
        assert exact <= mpf(str(amount.delta)) <= exact * (1 + mpf(10) ** -30)


def test_the_delta_of_two_steps_is_more_than_twice_that_of_one():
    """The second step meets outputs that the first has made e^ε times as likely: to add up δ would be too little."""
    epsilon, delta = 0.5, 1e-3
    two = float(cost_in(Symbols(2), promise(epsilon, delta)).amount.delta)
    assert two == pytest.approx(delta * (1 + exp(epsilon)), rel=1e-12)
    assert two > 2 * delta


def test_at_epsilon_zero_deltas_add_up():
    assert cost_in(Symbols(3), promise(0.0, 1e-3)).amount.delta == Decimal("0.003")


def test_a_delta_that_becomes_more_than_one_is_refused():
    with pytest.raises(pv.UnitMismatchError, match="more than 1"):
        cost_in(Symbols(40), promise(3.0, 1e-6))
    with pytest.raises(pv.UnitMismatchError, match="more than 1"):
        cost_in(Symbols(10**9), promise(3.0, 1e-300))


def test_the_certificate_counts_where_it_is_smaller_than_steps_and_where_there_are_none():
    steps = cost_in(Symbols(3), promise(1.0), loss_at=lambda distance: 2.5 if distance == 3 else 99.0)
    assert steps.amount.epsilon == Decimal("2.5")
    assert "loss at a distance of 3" in steps.explanation
    assert cost_in(Symbols(3), promise(1.0), loss_at=lambda _: 7.0).amount.epsilon == 3
    among_feasible = promise(1.0, unit=Symbols(1, feasible=True))
    assert cost_in(Symbols(3), among_feasible, loss_at=lambda _: 7.0).amount.epsilon == 7
    with pytest.raises(pv.UnitMismatchError, match="the loss that this one states"):
        cost_in(Symbols(3), among_feasible)


def test_a_computed_loss_is_rounded_up():
    loss = 0.1 + 0.2  # a binary number a little above 0.3
    cost = cost_in(Symbols(2), promise(1.0, unit=Symbols(1, feasible=True)), loss_at=lambda _: loss)
    assert cost.amount.epsilon >= Decimal(loss)


def test_certified_words_are_charged_what_their_certificate_states(tmp_path):
    town = pv.example_town()
    mechanism = pv.CertifiedExponential(town, epsilon=3.0)
    ledger = pv.Ledger.create(tmp_path / "budget.db", 100.0, unit=Symbols(2))
    charge = ledger.charge(
        mechanism.guarantee, command="c", request="r", longest=5, loss_at=lambda d: mechanism.loss_at(d, [4, 5])
    )
    assert float(charge.amount.epsilon) >= max(mechanism.certificate(n).loss_at(2) for n in (4, 5))
    with pytest.raises(pv.InvalidParameterError, match="lengths"):
        mechanism.loss_at(2)


def test_what_is_left_buys_what_the_steps_allow():
    six = amount_of(6.0, 0.0, "the rest")
    bought = dict(buys(SameLength(), six))
    assert bought["one symbol, words of up to 10 symbols"] == Decimal("0.6")
    assert bought["a word (a model)"] == 6
    assert dict(buys(User(3, 10), six))["one edit in a word of 1 to 10 symbols"] == Decimal("0.2")
    assert buys(Word(10, "add-remove"), six) == []
    assert list(dict(buys(Transition(), six))) == ["the destination of one transition (a model)"]


@pytest.mark.parametrize(
    "odd", [{"longest": 0}, {"longest": -3}, {"words_per_user": 0}, {"words_per_user": 0.5}, {"longest": True}]
)
def test_lengths_and_limits_that_are_none_are_refused(odd):
    with pytest.raises(pv.InvalidParameterError, match="whole number"):
        Known(**odd)


@pytest.mark.parametrize("loss", [-1.0, float("nan"), float("inf")])
def test_a_loss_that_is_none_is_refused_and_the_ledger_stays_whole(tmp_path, loss):
    ledger = pv.Ledger.create(tmp_path / "budget.db", 10.0, unit=Symbols(3))
    with pytest.raises(pv.InvalidParameterError, match="a loss is a finite number"):
        ledger.charge(promise(1.0), command="c", request="r", loss_at=lambda _: loss)
    assert len(pv.Ledger.open(tmp_path / "budget.db").entries()) == 1


def test_a_charge_is_resumed_only_if_the_release_costs_no_more_than_it(tmp_path):
    ledger = pv.Ledger.create(tmp_path / "budget.db", 100.0, unit=SameLength())
    ledger.charge(promise(1.0), command="c", request="r", longest=3)
    assert ledger.resume(promise(1.0), request="r", longest=4) is None
    assert ledger.resume(promise(1.0), request="r", longest=2) is not None


def test_a_circumstance_that_there_is_not_is_refused_and_charges_nothing(tmp_path):
    ledger = pv.Ledger.create(tmp_path / "budget.db", 100.0, unit=SameLength())
    with pytest.raises(TypeError, match="longset"):
        ledger.charge(promise(1.0), command="c", request="r", longset=3)
    with pytest.raises(TypeError, match="longset"):
        ledger.resume(promise(1.0), request="r", longset=3)
    assert len(ledger.entries()) == 1


def test_a_budget_that_names_its_persons_takes_no_promise_about_others(tmp_path):
    ledger = pv.Ledger.create(tmp_path / "budget.db", 100.0, unit=User(5, 9), user="rider")
    of_persons = promise(1.0, unit=User())
    assert ledger.price(of_persons, user="rider").amount.epsilon == 1
    for user in ("trip", None):
        with pytest.raises(pv.UnitMismatchError, match="persons named by the column 'rider'"):
            ledger.price(of_persons, user=user)
    assert ledger.price(promise(1.0, unit=Word())).amount.epsilon == 5
    unnamed = pv.Ledger.create(tmp_path / "unnamed.db", 100.0, unit=User(5, 9))
    assert unnamed.price(of_persons, user="rider").amount.epsilon == 1
    assert unnamed.price(of_persons).amount.epsilon == 1


def test_a_limit_counts_only_for_the_column_that_names_the_persons(tmp_path):
    ledger = pv.Ledger.create(tmp_path / "budget.db", 100.0, unit=UserSymbols(5, 1), user="rider")
    about = {"words_per_user": 2}
    assert ledger.price(promise(1.0), user="rider", **about).amount.epsilon == 2
    assert ledger.price(promise(1.0), user="trip", **about).amount.epsilon == 5
    assert ledger.price(promise(1.0), **about).amount.epsilon == 5
    assert pv.Ledger.open(tmp_path / "budget.db").user == "rider"
    with pytest.raises(pv.InvalidParameterError, match="budget of persons"):
        pv.Ledger.create(tmp_path / "other.db", 1.0, unit=SameLength(), user="rider")
