"""What the caller asks for, checked before any data are looked at, and the promise in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pathveil.errors import InvalidParameterError
from pathveil.models.laplace import EXACT
from pathveil.models.people import WholeWords
from pathveil.models.sequences.times import TimesKind
from pathveil.privacy.guarantee import Guarantee
from pathveil.privacy.profile import require_promise
from pathveil.privacy.units import Neighbours

Unit = Literal["word", "user"]
Order = int | Literal["auto"]

_TIMES = {
    "starts": " and of the hours of the week in which words begin",
    "symbols": ", of the hours of the week in which words begin and of durations between symbols",
}

LARGEST_ORDER = 8
LARGEST_LENGTH = 100_000


@dataclass(frozen=True)
class Request:
    """A promise, and what shall be learned for it."""

    epsilon: float
    delta: float | None
    whole: WholeWords
    max_length: int
    order: Order
    times: TimesKind | None = None
    ends: bool = False

    def guarantee(self, *, seeded: bool) -> Guarantee:
        """What is promised about the model."""
        frequent = "" if self.delta is None else "whole words with a noisy count above a threshold, and "
        timed = "" if self.times is None else ", with any times,"
        return Guarantee(
            epsilon=self.epsilon,
            delta=self.delta or 0.0,
            unit=f"any other set of words (that can occur){timed} {self.whole.difference(self.max_length)}",
            public=(
                "the states",
                "that there is a word",
                "which words can occur",
                *self.whole.public,
                "the greatest length, after which words are cut",
                *([] if self.times is None else ["the bins of times"]),
            ),
            mechanism=f"private model of sequences: {frequent}discrete Laplace noise on counts of what follows what"
            + (" and of how words begin and end" if self.ends else "")
            + ("" if self.times is None else _TIMES[self.times]),
            sampling=EXACT,
            seeded=seeded,
            protects=self.whole.protects,
        )


def checked_request(
    epsilon: float,
    delta: float | None,
    max_length: int,
    order: Order,
    unit: Unit,
    max_words_per_user: int | None,
    neighbours: Neighbours,
    *,
    ends: bool = False,
) -> Request:
    """What is asked for, or an error that says what is wrong with it."""
    if delta is not None and delta == 0:
        raise InvalidParameterError(
            "`delta` is 0: words that many have can only be kept whole with a δ above 0; leave out `delta` for a model "
            "without them"
        )
    require_promise(epsilon, 1e-6 if delta is None else delta)
    if isinstance(max_length, bool) or not isinstance(max_length, int) or not 1 <= max_length <= LARGEST_LENGTH:
        raise InvalidParameterError(
            f"`max_length` is {max_length!r}: it must be a whole number from 1 to {LARGEST_LENGTH:,}, public and not "
            "read off the data; longer words are cut"
        )
    if order != "auto" and (isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= LARGEST_ORDER):
        raise InvalidParameterError(
            f"`order` is {order!r}: it must be 'auto' or a number of symbols from 1 to {LARGEST_ORDER} that the next "
            "one depends on"
        )
    if unit not in ("word", "user"):
        raise InvalidParameterError(f"`unit` is {unit!r}: it must be 'word' or 'user' (all words of a person)")
    if (unit == "user") != (max_words_per_user is not None):
        raise InvalidParameterError(
            '`unit="user"` and `max_words_per_user` belong together: all words of a person are protected, and so '
            "many of them, declared and not measured, are used"
        )
    if ends and delta is not None:
        raise InvalidParameterError(
            "`ends` and `delta` do not go together: words that are kept whole have their ends already. Leave out one"
        )
    return Request(epsilon, delta, WholeWords(neighbours, max_words_per_user), max_length, order, ends=ends)
