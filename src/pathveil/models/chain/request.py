"""What the caller asks for, checked before any data are looked at, and the promise in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pathveil.errors import InvalidParameterError, InvalidSystemError, PathVeilError
from pathveil.models.dirichlet import EXACT_ON_GRID
from pathveil.models.laplace import EXACT
from pathveil.models.people import WholeWords
from pathveil.privacy import units
from pathveil.privacy.guarantee import Guarantee
from pathveil.privacy.profile import require_promise
from pathveil.privacy.units import Neighbours

Mechanism = Literal["dirichlet", "laplace", "gaussian"]
Unit = Literal["transition", "symbol", "word", "user"]

PARTS = ("transitions", "first", "lengths")
"""What a model may learn from the data, each for its share of the budget."""


@dataclass(frozen=True)
class Request:
    """A promise, and the noise that shall keep it; checked, before the data are looked at.

    `mechanism` is None where the caller leaves the choice to the forecast. `delta` is what may be spent, or None.
    """

    mechanism: Mechanism | None
    unit: Unit
    epsilon: float
    delta: float | None
    max_length: int | None
    shares: Mapping[str, float]
    floor: float | None
    mix: bool
    max_words_per_user: int | None = None
    neighbours: Neighbours = "replace"

    @property
    def whole(self) -> WholeWords:
        """Which words may change, where whole words are protected."""
        return WholeWords(self.neighbours, self.max_words_per_user)

    @property
    def number_of_words_is_public(self) -> bool:
        return self.unit == "symbol" or (self.unit == "word" and self.whole.number_is_public)

    @property
    def is_papers_mode(self) -> bool:
        """Only the Dirichlet mechanism has a floor, so whoever speaks of one means it."""
        return self.floor is not None or not self.mix

    def guarantee(self, mechanism: Mechanism, *, seeded: bool) -> Guarantee:
        """What is promised where this mechanism is used; with Laplace noise, a δ that was offered is not spent."""
        return Guarantee(
            epsilon=self.epsilon,
            delta=0.0 if mechanism == "laplace" else self.delta or 0.0,
            unit=self._unit_text,
            public=tuple(self._public(mechanism)),
            mechanism=_mechanism_text(mechanism, self.shares),
            sampling=EXACT_ON_GRID if mechanism == "dirichlet" else EXACT,
            seeded=seeded,
            protects=self._protects,
        )

    @property
    def _protects(self) -> units.Unit:
        if self.unit == "transition":
            return units.Transition()
        return units.Symbols(1) if self.unit == "symbol" else self.whole.protects

    @property
    def _unit_text(self) -> str:
        if self.unit == "transition":
            return (
                "any other set of transitions in which one has another destination (origins and row sizes are the same)"
            )
        words = "any other set of words (with transitions that can occur)"
        if self.unit == "symbol":
            return f"{words} in which one symbol of one word is another"
        return f"{words} {self.whole.difference(self.max_length or 2)}"

    def _public(self, mechanism: Mechanism) -> list[str]:
        listed = ["the states", "which transitions can occur"]
        if self.unit == "transition":
            listed.append("where each transition starts and so the number of records of each row")
        elif self.unit == "symbol":
            listed.append("the number of words and their lengths")
        else:
            listed += [*self.whole.public, "the greatest length, after which words are cut"]
        if mechanism == "dirichlet":
            frequency = f"that every possible transition has frequency ≥ {self.floor or 0:.6g}"
            listed.append("the floor of each row" if self.mix else frequency)
        return listed


def checked_request(
    mechanism: Mechanism | None,
    unit: Unit | None,
    epsilon: float,
    delta: float | None,
    max_length: int | None,
    split: Mapping[str, float] | None,
    floor: float | None,
    mix: bool,
    from_words: bool,
    *,
    max_words_per_user: int | None = None,
    neighbours: Neighbours = "replace",
) -> Request:
    """What is asked for, or an error that says what is wrong with it."""
    if unit is None:
        if from_words:
            raise InvalidParameterError(
                "say what is protected: `unit=\"word\"` (a whole word, with `max_length`), 'user' (all words of a "
                "person, with `max_length`, `users` and `max_words_per_user`), 'symbol' (one symbol of a word) or "
                "'transition' (the destination of one transition; row sizes are public)"
            )
        unit = "transition"
    shares = _checked_split(split, unit)
    _check_unit(unit, mechanism, from_words, max_length)
    _check_people(unit, max_words_per_user, neighbours)
    if mechanism == "laplace" and delta == 0:
        delta = None  # said in another way
    if delta is not None:
        require_promise(epsilon, delta)
    asked = Request(mechanism, unit, epsilon, delta, max_length, shares, floor, mix, max_words_per_user, neighbours)
    if asked.is_papers_mode and (unit != "transition" or mechanism not in (None, "dirichlet")):
        raise InvalidParameterError(
            f"`floor` and `mix` belong to mechanism 'dirichlet' and unit 'transition', not to {mechanism or unit!r}"
        )
    if delta is None and (mechanism in ("dirichlet", "gaussian") or asked.is_papers_mode):
        raise InvalidParameterError(
            f"mechanism {mechanism or 'dirichlet'!r} needs a `delta`; 'laplace' is the one with δ = 0"
        )
    return asked


def request_from_dict(saved: Mapping[str, Any]) -> Request:
    """What `dataclasses.asdict` made of a request; `InvalidSystemError` where that cannot be."""
    try:
        found = Request(**saved)
        split = None if set(found.shares) == {"transitions"} else found.shares
        again = checked_request(
            found.mechanism, found.unit, found.epsilon, found.delta, found.max_length, split, found.floor, found.mix,
            from_words=True, max_words_per_user=found.max_words_per_user, neighbours=found.neighbours,
        )  # fmt: skip
        if not 0 < found.epsilon < math.inf:
            raise ValueError
        return again
    except (PathVeilError, TypeError, ValueError, AttributeError):
        raise InvalidSystemError("what the model says about what was asked for is not what PathVeil writes") from None


def _check_unit(unit: Unit, mechanism: str | None, has_words: bool, max_length: int | None) -> None:
    if mechanism not in (None, "dirichlet", "laplace", "gaussian"):
        raise InvalidParameterError(f"mechanism is {mechanism!r}: it must be 'dirichlet', 'laplace' or 'gaussian'")
    if unit not in get_args(Unit):
        raise InvalidParameterError(f"unit is {unit!r}: it must be 'transition', 'symbol', 'word' or 'user'")
    if unit != "transition":
        if mechanism == "dirichlet":
            raise InvalidParameterError(
                f"the Dirichlet mechanism does not protect a {unit}: changing one moves records between rows. Use "
                '`mechanism="laplace"` or "gaussian", or `unit="transition"`.'
            )
        if not has_words:
            raise InvalidParameterError(f"unit {unit!r} needs `words=…`: counts and pairs do not say what a {unit} is")
    is_whole = unit in ("word", "user")
    if is_whole and (isinstance(max_length, bool) or not isinstance(max_length, int) or max_length < 2):
        raise InvalidParameterError(
            f"unit {unit!r} needs `max_length`, a public whole number of at least 2 (longer words are cut), "
            f"not {max_length!r}"
        )
    if not is_whole and max_length is not None:
        raise InvalidParameterError("`max_length` belongs to the units 'word' and 'user'; no other depends on it")


def _check_people(unit: Unit, max_words: int | None, neighbours: Neighbours) -> None:
    """How many words of a person are used, and which data are neighbours."""
    if unit != "user" and max_words is not None:
        raise InvalidParameterError(
            "`max_words_per_user` limits the words of a person, whom only unit 'user' protects: use `unit=\"user\"`"
        )
    if unit == "user" and max_words is None:
        raise InvalidParameterError(
            "unit 'user' needs `max_words_per_user`, a public whole number of at least 1: so many words of a person "
            "are used, chosen at random"
        )
    WholeWords(neighbours, max_words)  # says what is wrong with them
    if neighbours != "replace" and unit not in ("word", "user"):
        raise InvalidParameterError(
            f"`neighbours={neighbours}` is for the units 'word' and 'user': a {unit} is replaced by another"
        )


def _checked_split(split: Mapping[str, float] | None, unit: Unit) -> dict[str, float]:
    if split is None:
        return {"transitions": 1.0}
    if unit not in ("word", "user"):
        raise InvalidParameterError(
            f"`split` learns first symbols and lengths from the data, which unit {unit!r} does not protect: "
            'use `unit="word"` or "user"'
        )
    shares = dict(split)
    if not set(shares) <= set(PARTS) or "transitions" not in shares:
        raise InvalidParameterError(
            f"`split` must name 'transitions' and may name 'first' and 'lengths', not {shares!r}"
        )
    if not all(share > 0 for share in shares.values()) or abs(sum(shares.values()) - 1) > 1e-9:
        raise InvalidParameterError(f"the shares of `split` must be positive and sum to 1, not {shares!r}")
    return shares


def _mechanism_text(mechanism: str, shares: Mapping[str, float]) -> str:
    name = {
        "dirichlet": "Dirichlet mechanism on the rows of a Markov chain",
        "laplace": "discrete Laplace noise on transition counts",
        "gaussian": "discrete Gaussian noise on transition counts",
    }[mechanism]
    if len(shares) == 1:
        return name
    budget = "ε" if mechanism == "laplace" else "ρ"
    parts = {"transitions": name, "first": "first symbols", "lengths": "lengths"}
    return ", ".join(f"{parts[part]} ({share:g} of {budget})" for part, share in shares.items())
