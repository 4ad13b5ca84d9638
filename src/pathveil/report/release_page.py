"""The release report: what was released under which promise, for the file of whoever has to defend it.

It is made from the manifest, the released file and the ledger. Of the ledger it shows what follows from public
decisions (amounts, times, how much is left) and not what the curator keeps: fingerprints of the input, commands, paths.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import Any

from pathveil.errors import DataFileError, LedgerError
from pathveil.ledger.ledger import Ledger
from pathveil.markup import Html, table, tag
from pathveil.privacy.guarantee import Guarantee
from pathveil.report.budget import amounts_chart
from pathveil.report.drawing import scrolling
from pathveil.report.explain import beliefs, epsilon_in_words
from pathveil.report.page import Page, bullets, facts, paragraphs
from pathveil.report.plots import belief_chart
from pathveil.report.released import ORDER_RELEASED, Released

SEEDED = (
    "NOT PRIVATE: this release was made with a known seed. Whoever knows the seed can undo it. It is good for tests "
    "and demonstrations only."
)


@dataclass(frozen=True)
class Charged:
    """What the ledger says about one release: the charges for it, and the state of the budget, all in its one unit."""

    charges: tuple[dict[str, Any], ...]
    unit: str
    count: int
    spent: dict[str, Any]
    remaining: dict[str, Any]
    total: dict[str, Any]
    composition: str
    head: str
    entries: int


def digest_of(path: Path) -> str | None:
    """The SHA-256 digest of a file, or None where it is not there."""
    if not path.is_file():
        return None
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def charged_for(ledger: Ledger, released: Released, digest: str | None) -> Charged:
    """The charges for this very file, found by its digest; an error where the ledger has none."""
    if digest is None:
        raise DataFileError(
            f"{released.data_file}: the released file is not beside its manifest. The ledger knows it by its digest: "
            "put it there, or leave out the ledger."
        )
    found = ledger.verify()
    content = ledger.to_dict()
    mine = [charge for charge in content["charges"] if charge["output"] == f"sha256:{digest}"]
    if not mine:
        raise LedgerError(
            f"{released.file}: the ledger has no charge for this file (SHA-256 {digest}). Either it was not made "
            "under this ledger, or it was changed after it was released."
        )
    if not any(charge["guarantee"] == released.promise.to_dict() for charge in mine):
        raise LedgerError(f"{released.file}: the ledger was charged for another promise than the manifest's")
    return Charged(
        charges=tuple(mine),
        unit=content["unit"],
        count=len(content["charges"]),
        spent=content["spent"],
        remaining=content["remaining"],
        total=content["budget"],
        composition=content["composition"],
        head=found.head,
        entries=found.entries,
    )


def release_page(released: Released, digest: str | None, charged: Charged | None = None) -> Page:
    """The report."""
    promise = released.promise
    page = Page(
        f"Release report: {released.file}",
        "What was released, what is promised about it, and what is not. Written from the manifest of the release"
        + (" and the ledger of its budget." if charged else "."),
        alarm=SEEDED if promise.seeded else None,
        badge=None if promise.seeded else "No sensitive data in this report.",
    )
    page.add("The promise", *_promise(promise))
    page.add("What was released", *_what(released, digest))
    page.add("What the numbers mean", *_numbers(page, promise))
    page.add("What is protected, and what is not", *_scope(released))
    page.add("How it was made", _how(released))
    if charged is not None:
        page.add("The budget", *_budget(page, charged))
    elif released.budget is not None:
        page.add("The budget", tag("p", f"The release was charged to a budget: {released.budget['conversion']}."))
    page.add("How to check this report", _checks(released, digest, charged))
    if charged is None:
        page.leave_out("Other releases from the same input: no ledger was given that would know of them.")
    return page


def _promise(promise: Guarantee) -> list[Html]:
    exception = f", plus at most δ = {promise.delta:g}" if promise.delta else ""
    return [
        tag("p", tag("strong", "In one sentence, as the manifest has it. "), str(promise)),
        tag(
            "p",
            tag("strong", "For the engineer. "),
            f"Differential privacy with ε = {promise.epsilon:g} and δ = {promise.delta:g}. Neighbouring inputs: "
            f"{promise.unit}. For every set S of outputs, P(S | input) ≤ e^{promise.epsilon:g} · P(S | "
            f"neighbour){exception}.",
        ),
        tag(
            "p",
            tag("strong", "For the lawyer. "),
            "The promise is about two possible inputs: the true one, and any neighbouring one, as the unit defines "
            "it. Whatever was released would have been released from the neighbouring input, too, with a probability "
            f"that is at most about {_factor(promise.epsilon)} times smaller or larger{exception}. Nobody can tell "
            "the two inputs apart with more certainty than that, whatever else they know, now or later. This is a "
            "statement about the procedure by which the file was made. It needs no assumption about what other data "
            "an adversary holds or how much they can compute.",
        ),
    ]


def _factor(epsilon: float) -> str:
    return f"{exp(epsilon):,.3g}" if epsilon < 700 else "10^300"


def _what(released: Released, digest: str | None) -> list[Html]:
    listed: list[tuple[str, object]] = [("file", tag("code", released.file))]
    listed.append(("SHA-256 of the file", tag("code", digest) if digest else "the file was not beside its manifest"))
    if released.system is not None:
        listed.append(("public system", released.system.get("description", "")))
        listed.append(("fingerprint of the system", tag("code", released.system.get("fingerprint", ""))))
    listed.append(("made with", f"PathVeil {released.version}"))
    return [facts(listed)]


def _numbers(page: Page, promise: Guarantee) -> list[Html]:
    parts = [paragraphs(epsilon_in_words(promise.epsilon, promise.delta))]
    if not promise.delta:
        rows = beliefs(promise.epsilon)
        parts.append(
            scrolling(
                table("How sure can somebody become? Examples", ["before the release", "after it, at most"], rows),
                "Beliefs",
            )
        )
        parts.append(page.chart("belief", belief_chart(promise.epsilon)))
    parts.append(
        tag(
            "p",
            "Whether this ε is small enough is a decision about people, not a computation. For comparison: the bet "
            "above is won at most 73.1% of the time at ε = 1, 95.3% at ε = 3 and 99.3% at ε = 5.",
        )
    )
    return parts


def _scope(released: Released) -> list[Html]:
    promise = released.promise
    parts = [
        tag("h3", "Protected"),
        tag("p", f"The difference between the input and {promise.unit}."),
    ]
    if released.protects_length:
        parts.append(
            tag(
                "p",
                "The length of a word is protected, too: the promise compares words of different lengths, and a "
                "private word need not be as long as the one it was made from. Only the range of lengths is public.",
            )
        )
    if released.per_user is not None:
        user = released.per_user
        parts.append(
            tag(
                "p",
                f"Also all words of one user together, at most {user.get('max_words')}: ε = {user.get('epsilon')}, δ "
                f"= {user.get('delta')}. Unit: {user.get('unit')}.",
            )
        )
    not_protected = [
        *(f"{item[0].upper()}{item[1:]}: taken as public." for item in promise.public),
        "Differences larger than the unit: for them the bound is weaker, or there is none.",
    ]
    if released.per_user is None:
        not_protected.append("A person with several records in the input: the losses of all of them add up.")
    not_protected.append(
        "Other releases from the same input: their losses add up with this one's. A ledger keeps that account."
    )
    if ORDER_RELEASED in promise.public:
        not_protected.append("Who knows the order of the input knows which record is whose.")
    return [*parts, tag("h3", "Not protected, and taken as known to everybody"), bullets(not_protected)]


def _how(released: Released) -> Html:
    promise = released.promise
    return facts(
        [
            ("mechanism", promise.mechanism),
            ("drawn", promise.sampling),
            (
                "randomness",
                "a known seed: NOT private" if promise.seeded else "fresh keys from the operating system",
            ),
        ]
    )


def _budget(page: Page, charged: Charged) -> list[Html]:
    """The charges for this release and the state of the budget; other charges are the curator's to show."""
    rows: list[list[object]] = [
        [
            f"{charge['number']}",
            charge["time"],
            f"{charge['epsilon']:g}",
            f"{charge['delta']:g}",
            charge["status"],
            charge["conversion"],
        ]
        for charge in charged.charges
    ]
    headers = ["charge", "time", "ε", "δ", "status", "how the cost comes about"]
    parts = [
        tag(
            "p",
            f"This budget protects one unit: {charged.unit}. Every release is charged what it costs in that unit. The "
            "cost was taken before anything was drawn.",
        ),
        scrolling(table("The charges for this release", headers, rows), "Charges"),
        amounts_chart(page, charged.unit, charged.total, charged.spent, charged.remaining),
        tag(
            "p",
            f"Charges so far, this release included: {charged.count}. Together they cost ε = "
            f"{charged.spent['epsilon']:g}, δ = {charged.spent['delta']:g}, added up. The budget is ε = "
            f"{charged.total['epsilon']:g}, δ = {charged.total['delta']:g}.",
        ),
    ]
    if charged.composition != "basic":
        parts.append(
            tag(
                "p",
                "This ledger composes releases optimally: together they keep within the budget even where the sum "
                "exceeds it.",
            )
        )
    return parts


def _checks(released: Released, digest: str | None, charged: Charged | None) -> Html:
    steps: list[object] = []
    if digest is not None:
        steps.append(f"The file is the one described here if its SHA-256 digest is {digest}.")
    if released.system is not None:
        steps.append(
            "The public system is the one named here if its fingerprint is the same (pathveil.data.system_fingerprint)."
        )
    if charged is not None:
        steps.append(
            f"The ledger has {charged.entries} entries, and its chain of hashes is whole. Its head was "
            f"{charged.head}; pathveil ledger verify --head tells whether that entry is still there."
        )
    steps.append(
        "That the promise follows from the mechanism is proved in the documentation of PathVeil; that the program "
        "does what the proof says is tested, and can be audited."
    )
    steps.append("This report states facts about a procedure. Whether they satisfy a law is for a lawyer to say.")
    return bullets(steps)
