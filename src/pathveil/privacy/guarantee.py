"""What was promised, to whom, and what was taken as public."""

from __future__ import annotations

from dataclasses import dataclass

from pathveil.markup import card, tag


@dataclass(frozen=True)
class Guarantee:
    """A differential-privacy promise with everything that it needs to mean something.

    `epsilon` and `delta` bound how much the output's distribution may change when the protected thing, the `unit`,
    changes. `public` lists what the promise takes as known to everybody. `sampling` says how the random draw was
    carried out. `seeded` is True when a release was made with `insecure_seed`: then there is no privacy against
    someone who knows the seed.
    """

    epsilon: float
    delta: float
    unit: str
    public: tuple[str, ...]
    mechanism: str
    sampling: str
    seeded: bool = False

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
