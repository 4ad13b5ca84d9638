"""The model that a fit gives: a chain, what was promised about it, and what to expect of its rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from pathveil.errors import InvalidParameterError, InvalidSystemError
from pathveil.markup import Html, card
from pathveil.models.chain.forecast import ErrorForecast, forecast_errors
from pathveil.models.chain.request import Mechanism, Request, request_from_dict
from pathveil.models.model_file import model_json, model_parts
from pathveil.models.synthesize import beginnings, synthesize
from pathveil.numerics.arrays import FloatArray
from pathveil.privacy.guarantee import Guarantee
from pathveil.randomness.source import RandomSource
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import Symbol, Word


@dataclass(frozen=True)
class RowForecast:
    """What is publicly known about one row: its size, how it was drawn, and the error to expect of an entry.

    `records` is None where row sizes are protected too. `rmse` bounds the root mean squared error over the row's
    entries, before projection; None where it depends on protected row sizes.
    """

    state: Symbol
    records: int | None
    successors: int
    floor: float | None
    concentration: float | None
    rmse: float | None


@dataclass(frozen=True, eq=False)
class PrivateChain:
    """A fitted model. Nothing in it depends on the data except through the mechanism and what the guarantee lists.

    `first` and `lengths` (probabilities of lengths 1, 2, …) are there if a share of the budget was spent on them.
    `asked` is what the caller asked for, and `words` how many there were, where that is public; both are None in
    files that do not say so, as older ones.
    """

    chain: MarkovChain
    guarantee: Guarantee
    mechanism: Mechanism
    rows: tuple[RowForecast, ...]
    first: FloatArray | None = None
    lengths: FloatArray | None = None
    asked: Request | None = None
    words: int | None = None

    def __repr__(self) -> str:
        return f"PrivateChain({self.chain!r}, {self.mechanism}, ε = {self.guarantee.epsilon:g})"

    def _repr_html_(self) -> str:
        known = [row.rmse for row in self.rows if row.rmse is not None]
        worst = f"{max(known):.3g} at worst" if known else "depends on protected row sizes"
        facts = [
            ("states", f"{len(self.chain.symbols):,}"),
            ("mechanism", self.mechanism),
            ("error of an entry", worst),
        ]
        return card("Private Markov chain", facts, Html(self.guarantee._repr_html_()))

    def weakest_rows(self, count: int = 10) -> list[RowForecast]:
        """The rows with the largest errors: those with few records. Merge their states to do better."""
        if all(row.records is None for row in self.rows):
            raise InvalidParameterError(
                "row sizes are protected in this model, and so is which rows are weak; forecast with compare_models "
                "and row sizes that are public"
            )
        known = [row for row in self.rows if row.rmse is not None]
        return sorted(known, key=lambda row: -(row.rmse or 0.0))[:count]

    @cached_property
    def expected_errors(self) -> list[ErrorForecast]:
        """What each mechanism does, or would have done, at this ε and the δ that was offered; the best first.

        Empty for a model from an older file, which does not say what was asked for.
        """
        if self.asked is None:
            return []
        records = [row.records for row in self.rows if row.records is not None]
        successors = [row.successors for row in self.rows]
        return forecast_errors(self.asked, successors, records if len(records) == len(self.rows) else None)

    @property
    def reason(self) -> str:
        """Why this mechanism was used, and what became of the δ that was offered."""
        said = []
        if self.asked is not None and self.asked.mechanism is None and not self.asked.is_papers_mode:
            best, *others = self.expected_errors
            said.append(
                f"{best.mechanism} noise makes a count wrong by {best.count_error:.3g} on average"
                + "".join(f", {other.mechanism} by {other.count_error:.3g}" for other in others)
            )
        if self.asked is not None and self.asked.delta and self.guarantee.delta == 0:
            said.append(f"the δ of {self.asked.delta:g} is not needed, and not spent")
        return "; ".join(said)

    def to_json(self, promise: Guarantee | None = None) -> str:
        """The model as text; `promise` is what was promised about the file, if that is more than the guarantee."""
        return model_json(self, promise or self.guarantee)

    def save(self, path: str | Path) -> None:
        """Write the model to a file that `pv.load_model`, `pathveil synthesize` and `--chain` read."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def synthesize(self, count: int, length: int | None = None, rng: RandomSource | None = None) -> list[Word]:
        """`count` synthetic words from the private chain. Costs no further privacy.

        They begin as the chain has learned (`first`); otherwise as often in each state as transitions do, where that is
        public (unit "transition"), or in all states alike.
        """
        first = beginnings(self.first, (row.records for row in self.rows))
        return synthesize(self.chain, count, length, first=first, lengths=self.lengths, rng=rng)


def chain_from_json(text: str) -> PrivateChain:
    """The model that `PrivateChain.to_json` wrote; `InvalidSystemError` where it is something else."""
    chain, promise, saved = model_parts(text)
    if promise is None or saved is None:
        raise InvalidSystemError("a chain that pathveil model did not make. Use MarkovChain.from_json.")
    states = zip(saved["rows"], chain.symbols, strict=True)
    rows = tuple(RowForecast(**{**row, "state": state}) for row, state in states)
    first, lengths = (None if name not in saved else np.array(saved[name]) for name in ("first", "lengths"))
    asked = None if saved.get("asked") is None else request_from_dict(saved["asked"])
    return PrivateChain(chain, promise, saved["mechanism"], rows, first, lengths, asked, saved.get("words"))
