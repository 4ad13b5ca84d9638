"""The budget on a page: every charge of a ledger, each reader seeing what is theirs to see.

What follows from public decisions (amounts, times, how much is left) may be shown to anybody. Commands, outputs and the
fingerprints of inputs are the curator's.
"""

from __future__ import annotations

from typing import Any

from pathveil.ledger.ledger import Ledger
from pathveil.markup import Html, tag
from pathveil.report.charts import Bars, Series
from pathveil.report.page import Page, bullets, listed

_SHOWN_OF_A_FINGERPRINT = 8


def add_budget(page: Page, ledger: Ledger, *, to_the_curator: bool = False) -> None:
    """A section with every charge, and what is left."""
    content = ledger.to_dict()
    charges = content["charges"]
    parts = [
        tag(
            "p",
            f"This budget belongs to one data set and protects one unit: {content['unit']}."
            + ("" if to_the_curator else " Of its ledger, only amounts, times and mechanisms are shown here."),
        ),
        amounts_chart(page, content["unit"], content["budget"], content["spent"], content["remaining"]),
    ]
    if charges:
        headers = ["charge", "time", "ε", "δ", "status", "mechanism"]
        parts.append(
            listed("charges", f"Every charge so far: {len(charges):,}", headers, [_row(one) for one in charges])
        )
    if charges and to_the_curator:
        headers = ["charge", "how the cost comes about", "command", "fingerprint of the input"]
        parts.append(listed("charge-details", "What each was for", headers, [_details(one) for one in charges]))
    said = [f"Left: ε = {content['remaining']['epsilon']:g}, δ = {content['remaining']['delta']:g}."]
    said += [f"That buys ε = {one['epsilon']:g} for {one['protects']}." for one in content["buys"]]
    if not charges:
        said.insert(0, "Nothing was charged so far.")
    if content["not_completed"]:
        said.append(f"{content['not_completed']:,} charges were never completed; they count all the same.")
    if to_the_curator and charges:
        said.append("Charges with the same fingerprint were made for the same input.")
    page.add("The budget", *parts, bullets(said))


def amounts_chart(
    page: Page, unit: str, total: dict[str, Any], spent: dict[str, Any], remaining: dict[str, Any]
) -> Html:
    """What there is, what was spent and what is left, as bars."""
    values = [float(amount["epsilon"]) for amount in (total, spent, remaining)]
    chart = Bars(f"ε of the budget: {unit}", ["budget", "spent", "left"], [Series("ε", values, 0)], "ε", "", flat=True)
    return page.chart("budget", chart)


def _row(charge: dict[str, Any]) -> list[object]:
    amounts = [f"{charge['epsilon']:g}", f"{charge['delta']:g}"]
    mechanism = charge["guarantee"].get("mechanism", "")
    return [f"{charge['number']}", charge["time"], *amounts, charge["status"], mechanism]


def _details(charge: dict[str, Any]) -> list[object]:
    known = (charge["fingerprint"] or "")[:_SHOWN_OF_A_FINGERPRINT]
    return [f"{charge['number']}", charge["conversion"], tag("code", charge["command"]), tag("code", known)]
