"""Any sequence of operations leaves the ledger in the state that a plain list in memory says."""

from __future__ import annotations

import tempfile
from fractions import Fraction
from math import exp
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

import pathveil as pv
from tests.ledger.conftest import promise

# How many steps of each promise lead to the unit of the budget, two symbols.
UNITS = {pv.units.Word(): 1, pv.units.Symbols(1): 2, pv.units.Word(neighbours="add-remove"): 2, pv.units.Symbols(3): 1}
REQUESTS = ("monday", "tuesday")
EPSILONS = (0.1, 0.2, 0.3, 0.7, 1e-17, 0.0)
DELTAS = (0.0, 1e-6, 3e-6)


class LedgerAgainstModel(RuleBasedStateMachine):
    """The model keeps a dictionary per charge, and adds up fractions."""

    charges = Bundle("charges")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "budget.db"
        self.ledger = pv.Ledger.create(self.path, 1.0, 1e-5, unit=pv.units.Symbols(2))
        self.model: list[dict] = []
        self.entries = 1
        self.heads = [self.ledger.verify().head]

    def spent(self, what: str) -> Fraction:
        return sum((charge[what] for charge in self.model), Fraction(0))

    @rule(
        target=charges,
        epsilon=st.sampled_from(EPSILONS),
        delta=st.sampled_from(DELTAS),
        unit=st.sampled_from(list(UNITS)),
        request=st.sampled_from(REQUESTS),
    )
    def charge(self, epsilon, delta, unit, request):
        steps = UNITS[unit]
        exact = steps * Fraction(str(epsilon)), Fraction(str(delta))
        if steps == 2:  # δ (e^2ε - 1) / (e^ε - 1) = δ (1 + e^ε)
            exact = exact[0], exact[1] * (1 + Fraction(exp(epsilon)))
        # A δ that fills the budget to the last digit is not drawn here, so that rounding it up decides nothing.
        fits = self.spent("epsilon") + exact[0] <= 1 and self.spent("delta") + exact[1] <= Fraction(1, 10**5)
        asked = promise(epsilon, delta, unit)
        if not fits:
            with pytest.raises(pv.BudgetExceededError):
                self.ledger.charge(asked, command="c", request=request)
            return None
        charge = self.ledger.charge(asked, command="c", request=request)
        assert charge.amount.epsilon == exact[0]
        assert (
            exact[1] * (1 - Fraction(1, 10**15))
            <= Fraction(charge.amount.delta)
            <= exact[1] * (1 + Fraction(1, 10**15))
        )
        about = {
            "request": request,
            "epsilon": exact[0],
            "delta": Fraction(charge.amount.delta),
            "number": charge.number,
        }
        self.model.append({**about, "open": True, "sealed": False, "holder": charge, "promise": asked})
        self.entries += 1
        return charge

    @rule(charge=charges)
    def complete(self, charge):
        known = next((one for one in self.model if charge and one["number"] == charge.number), None)
        if known is None:
            return
        if known["open"] and known["holder"] == charge:
            self.ledger.complete(charge)
            known["open"] = False
            self.entries += 1
        else:
            with pytest.raises(pv.LedgerError):
                self.ledger.complete(charge)

    @rule(charge=charges)
    def seal(self, charge):
        known = next((one for one in self.model if charge and one["number"] == charge.number), None)
        if known is None:
            return
        if known["open"] and known["holder"] == charge and not known["sealed"]:
            self.ledger.seal(charge, output="a digest")
            known["sealed"] = True
            self.entries += 1
        else:
            with pytest.raises(pv.LedgerError):
                self.ledger.seal(charge, output="a digest")

    @rule(target=charges, request=st.sampled_from(REQUESTS), same=st.booleans())
    def resume(self, request, same):
        mine = [charge for charge in self.model if charge["request"] == request and charge["open"]]
        asked = mine[-1]["promise"] if mine and same else promise(0.123)
        found = self.ledger.resume(asked, request=request)
        assert (found is not None) == bool(mine and same and not mine[-1]["sealed"])
        if found is not None:
            mine[-1]["holder"] = found
            self.entries += 1
        return found

    @rule()
    def open_again(self):
        self.ledger = pv.Ledger.open(self.path)

    @precondition(lambda self: self.heads)
    @rule()
    def verify_with_every_head_so_far(self):
        for head in self.heads:
            latest = self.ledger.verify(head).head
        self.heads.append(latest)

    @rule(charge=consumes(charges))
    def forget(self, charge):
        """A process that dies: nobody has this right any more."""

    @invariant()
    def agrees(self):
        entries = self.ledger.entries()
        assert len(entries) == self.entries
        assert Fraction(self.ledger.spent.epsilon) == self.spent("epsilon") <= 1
        assert Fraction(self.ledger.remaining.delta) == Fraction(1, 10**5) - self.spent("delta") >= 0
        for request in REQUESTS:
            found = self.ledger.find_open(request)
            mine = [one["number"] for one in self.model if one["request"] == request and one["open"]]
            assert (found.number if found else None) == (mine[-1] if mine else None)

    def teardown(self):
        self.folder.cleanup()


TestLedgerAgainstModel = LedgerAgainstModel.TestCase
TestLedgerAgainstModel.settings = settings(max_examples=8, stateful_step_count=20, deadline=None)


@pytest.mark.slow
class TestLedgerAgainstModelForLonger(LedgerAgainstModel.TestCase):
    settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
