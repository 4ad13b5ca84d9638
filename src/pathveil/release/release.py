"""The steps of every release, in the order that makes a crash waste budget and never give it away.

with Release(ledger, command=…, request=…) as release:
    release.charge(promise)     # the cost is on the disk, or an error
    …draw; what of it touches the disk is encrypted…
    release.seal(digest)        # it may be read from now on, so no other run may use this charge
    …decrypt it, and give it its final name…
                                # at the end of the block: it is out, and the charge is completed

Left by an error before the seal, the charge stays open and a later run may resume it: nobody can have read what was
drawn. Left by an error after it, the charge stays "charged, not completed" for ever. Spark's tasks write files that can
be read; there, and where symbols appear one by one, the charge is sealed before anything is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from pathveil.errors import LedgerError

if TYPE_CHECKING:
    from pathveil.ledger.cost import Circumstances
    from pathveil.ledger.entries import Charge
    from pathveil.ledger.ledger import Ledger
    from pathveil.privacy.guarantee import Guarantee


class Release:
    """One release on its way through a ledger. Without a ledger the same steps are taken, and nothing is charged.

    `command` says for people what is released, `request` is the text by which a later run recognises its own charge.
    `fingerprint` is called for the fingerprint of the input when it is needed. With `resume`, the open charge of an
    earlier run of the same request is taken over if that is private. `notice` is told what a person should know.
    """

    def __init__(
        self,
        ledger: Ledger | None,
        *,
        command: str,
        request: str,
        fingerprint: Callable[[], str] = str,
        resume: bool = False,
        notice: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.ledger = ledger
        self._command, self._request, self._fingerprint = command, request, fingerprint
        self._resume, self._notice = resume, notice
        self._charge: Charge | None = None
        self._step = "new"
        self.output = ""
        """The digest of the output, for the ledger, where sealing came too early to name it."""

    def __enter__(self) -> Self:
        return self

    def charge(self, promise: Guarantee, **circumstances: Unpack[Circumstances]) -> dict[str, Any] | None:
        """Take what the release costs in the unit of the ledger; what the manifest says about it.

        The `circumstances` are the arguments of `Ledger.price`.
        """
        self._go("new", "charged")
        if self.ledger is not None:
            request, fingerprint = self._request, self._fingerprint()
            if self._resume:
                self._charge = self.ledger.resume(promise, request=request, fingerprint=fingerprint, **circumstances)
            if self._charge is None:
                self._tell_of_an_open_charge(self.ledger)
                self._charge = self.ledger.charge(
                    promise, command=self._command, request=request, fingerprint=fingerprint, **circumstances
                )
        return self.cost

    def _tell_of_an_open_charge(self, ledger: Ledger) -> None:
        if ledger.find_open(self._request) is None:
            return
        if self._resume:
            self._notice(
                "an earlier run of this command cannot be resumed: what it drew may have been readable already (on "
                "Spark that is so from the first word on), or its input, its promise or its price was another one. "
                "This run is charged again."
            )
        else:
            self._notice(
                "an earlier run of this command was charged and not completed; this one is charged again. (--resume "
                "uses the earlier charge: see docs/ledger.md for when that is private.)"
            )

    @property
    def cost(self) -> dict[str, Any] | None:
        """What a manifest says about the budget: its unit, and what the release cost in it. None without a ledger."""
        if self.ledger is None or self._charge is None:
            return None
        return {
            "unit": str(self.ledger.unit),
            **self._charge.amount.to_dict(),
            "conversion": self._charge.explanation,
        }

    def seal(self, output: str = "") -> None:
        """Note that the release may be read from now on; `output` is its digest, where that is known."""
        self._go("charged", "sealed")
        if self.ledger is not None and self._charge is not None:
            self.ledger.seal(self._charge, output=output)

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, where: TracebackType | None
    ) -> None:
        if problem is not None:
            return
        self._go("sealed", "completed")
        if self.ledger is None or self._charge is None:
            return
        try:
            self.ledger.complete(self._charge, output=self.output)
        except LedgerError as failed:
            raise LedgerError(
                "the output is complete and has its name, and it is paid for. Only that could not be written down, so "
                f'that the ledger goes on calling it "charged, not completed". {failed}'
            ) from None

    def _go(self, before: str, after: str) -> None:
        """Steps come in their order, once each: anything else is a mistake in the program, and nothing may appear."""
        if self._step != before:
            raise AssertionError(f"a release that is {self._step} cannot become {after}")
        self._step = after
