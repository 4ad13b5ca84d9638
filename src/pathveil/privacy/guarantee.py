"""What was promised, to whom, and what was taken as public."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from sys import float_info
from typing import Any, Self

from pathveil.markup import card, tag
from pathveil.privacy.units import Unit, unit_from_dict


@dataclass(frozen=True)
class Guarantee:
    """A differential-privacy promise with everything that it needs to mean something.

    `epsilon` and `delta` bound how much the output's distribution may change when the protected thing, the `unit`,
    changes; `protects` is the unit as a value that can be compared with others. `public` lists what the promise takes
    as known to everybody. `sampling` says how the random draw was carried out. `seeded` is True when a release was made
    with `insecure_seed`: then there is no privacy against someone who knows the seed.
    """

    epsilon: float
    delta: float
    unit: str
    public: tuple[str, ...]
    mechanism: str
    sampling: str
    seeded: bool = False
    protects: Unit = field(kw_only=True)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        content = {part.name: getattr(self, part.name) for part in fields(self)}
        return {
            **content,
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            "public": [str(item) for item in self.public],
            "seeded": bool(self.seeded),
            "protects": self.protects.to_dict(),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """What `to_dict` wrote, read back: KeyError, TypeError or ValueError for anything else. Files can be edited."""
        named = {part.name: content[part.name] for part in fields(cls)}
        if not isinstance(named["public"], list | tuple) or not isinstance(named["protects"], Mapping):
            raise TypeError("a guarantee has a list and a unit")
        named["public"] = tuple(named["public"])
        named["protects"] = unit_from_dict(named["protects"])
        promise = cls(**named)
        texts = (promise.unit, promise.mechanism, promise.sampling, *promise.public)
        if not all(isinstance(text, str) and text for text in texts) or not isinstance(promise.seeded, bool):
            raise TypeError("a guarantee has texts, and says whether there was a seed")
        for number in (promise.epsilon, promise.delta):
            if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= float_info.max:
                raise ValueError("ε and δ are finite numbers of at least 0")
        return promise

    def _repr_html_(self) -> str:
        amount = f"ε = {self.epsilon:g}, δ = {self.delta:g}"
        facts = [("unit", self.unit), ("mechanism", self.mechanism), ("taken as public", "; ".join(self.public))]
        seeded = [tag("p", tag("strong", "NOT private against whoever knows the seed."))] if self.seeded else []
        return card(amount, [*facts, ("sampling", self.sampling)], *seeded)

    def __str__(self) -> str:
        exception = f", but for a probability of δ = {self.delta:g}" if self.delta else ""
        sentence = (
            f"{self.mechanism}: had the input been {self.unit}, the probability of any output would differ by a factor "
            f"of at most e^{self.epsilon:g} (ε = {self.epsilon:g}){exception}; "
            f"taken as public: {', '.join(self.public)}; {self.sampling}."
        )
        if self.seeded:
            sentence += " A release was made with a known seed: it is NOT private against whoever knows the seed."
        return sentence
