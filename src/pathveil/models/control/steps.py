"""Steps of a decision process, counted: how often each state followed each pair of state and action, and what it paid.

Rewards are declared to lie in a range. They are put on a grid of 2²⁰ steps, measured from the middle of the range, so
that their sums are integers, and noise on them can be drawn exactly.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pathveil.errors import InvalidCountsError, InvalidParameterError, TooLargeError, UnknownSymbolError
from pathveil.models.people import chosen_words, person_codes
from pathveil.numerics.arrays import BoolArray, FloatArray, IntArray
from pathveil.privacy.units import LARGEST_NUMBER
from pathveil.randomness.source import RandomSource, checked_source
from pathveil.systems.system import Symbol, unique_symbols

GRID = 2**20
"""So many steps of the grid of rewards lie between the ends of their range."""

_LARGEST_TABLE = 2 * 10**8  # cells of the table of counts: 1.6 GB
_COLUMNS = ("state", "action", "next")

Owner = Literal["episode", "user"]
Steps = Iterable[tuple[Any, ...]] | Mapping[str, Any]
"""(state, action, next[, reward]) for each step, or columns with these names (a dictionary, or a data frame)."""


@dataclass(frozen=True, eq=False, repr=False)
class StepCounts:
    """What was counted, for the curator: no noise protects these numbers.

    `transitions[s, a, t]` counts steps; `reward_sums[s, a]` adds up rewards on the grid, measured from the middle of
    `reward_range`; None without rewards. `rewards_clipped` of them lay outside their range and were moved to its end.
    `owner` says of whom at most `max_steps` steps were used ("episode": the first ones; "user": some, at random), and
    `steps_left_out` how many were not.
    """

    states: tuple[Symbol, ...]
    actions: tuple[Symbol, ...]
    transitions: IntArray
    reward_sums: IntArray | None = None
    reward_range: tuple[float, float] | None = None
    rewards_clipped: int = 0
    owner: Owner | None = None
    max_steps: int | None = None
    steps_left_out: int = 0

    def __repr__(self) -> str:
        return "StepCounts(of sensitive data: for the curator's eyes only)"


def count_steps(
    steps: Steps,
    *,
    states: Iterable[Symbol],
    actions: Iterable[Symbol],
    rewards: tuple[float, float] | None = None,
    episodes: Iterable[Hashable] | npt.NDArray[Any] | None = None,
    users: Iterable[Hashable] | npt.NDArray[Any] | None = None,
    max_steps: int | None = None,
    rng: RandomSource | None = None,
) -> StepCounts:
    """Count the steps of a decision process; see `fit_private_mdp` for what the arguments mean.

    `episodes` (or `users`) names the episode (person) of each step. Of an episode the first `max_steps` steps are used,
    of a person `max_steps` steps that are chosen at random.
    """
    named, deeds = unique_symbols(states, "states"), unique_symbols(actions, "actions")
    cells = len(named) ** 2 * len(deeds)
    if cells > _LARGEST_TABLE:
        raise TooLargeError(
            f"{len(named):,} states and {len(deeds):,} actions make a table of {cells:,} counts; up to "
            f"{_LARGEST_TABLE:,} fit. Merge states, or split the process."
        )
    span = _checked_range(rewards)
    s, a, t, paid = _coded(steps, named, deeds, has_rewards=span is not None)
    kept, owner = _kept(len(s), episodes, users, max_steps, rng)
    left_out = 0
    if kept is not None:
        left_out = int(len(kept) - kept.sum())
        s, a, t, paid = s[kept], a[kept], t[kept], None if paid is None else paid[kept]
    shape = (len(named), len(deeds))
    pair = s * shape[1] + a
    table = np.bincount(pair * shape[0] + t, minlength=cells).reshape(*shape, shape[0])
    if span is None or paid is None:
        return StepCounts(named, deeds, table, None, None, 0, owner, max_steps, left_out)
    inside = np.clip(paid, *span)
    middle, width = (span[0] + span[1]) / 2, span[1] - span[0]
    # Whatever rounding does to the middle and the width, no reward counts more than half of the grid.
    on_grid = np.clip(np.rint((inside - middle) / width * GRID), -(GRID // 2), GRID // 2).astype(np.int64)
    sums = np.zeros(shape[0] * shape[1], dtype=np.int64)
    np.add.at(sums, pair, on_grid)
    clipped = int((inside != paid).sum())
    return StepCounts(named, deeds, table, sums.reshape(shape), span, clipped, owner, max_steps, left_out)


def _coded(
    steps: Steps, states: tuple[Symbol, ...], actions: tuple[Symbol, ...], *, has_rewards: bool
) -> tuple[IntArray, IntArray, IntArray, FloatArray | None]:
    """Codes of states, actions and next states, and rewards where they are learned."""
    columns = _columns(steps, has_rewards)
    place = {state: i for i, state in enumerate(states)}
    code = {action: i for i, action in enumerate(actions)}
    s, a, t = (
        _codes(columns[name], code if name == "action" else place, name, len(actions if name == "action" else states))
        for name in _COLUMNS
    )
    if not len(s) == len(a) == len(t):
        raise InvalidCountsError("the columns of the steps differ in length")
    if not has_rewards:
        return s, a, t, None
    try:
        paid = np.asarray(columns["reward"], dtype=float)
    except (TypeError, ValueError, OverflowError) as problem:
        raise InvalidCountsError(
            f"the rewards cannot be read as numbers: {problem}", without_content="a reward is not a number"
        ) from None
    for i in np.flatnonzero(~np.isfinite(paid)) if paid.shape == s.shape else [-1]:
        raise InvalidCountsError(
            f"the reward of step {i + 1} is not a finite number" if i >= 0 else "there must be one reward for each step"
        )
    return s, a, t, paid


def _columns(steps: Steps, has_rewards: bool) -> dict[str, Any]:
    names = (*_COLUMNS, "reward") if has_rewards else _COLUMNS
    if hasattr(steps, "keys"):
        for name in names:
            if name not in steps:
                raise InvalidParameterError(f"the steps have no column {name!r}: they need {', '.join(names)}")
        return {name: steps[name] for name in names}  # type: ignore[index]
    listed = list(steps)
    for i, step in enumerate(listed):
        if not isinstance(step, tuple | list) or len(step) < len(names) or len(step) > 4:
            raise InvalidCountsError(
                f"step {i + 1} is {step!r}: a step is ({', '.join(names)})",
                without_content=f"step {i + 1} is not ({', '.join(names)})",
            )
    return {name: [step[k] for step in listed] for k, name in enumerate(names)}


def _codes(column: Any, known: Mapping[Symbol, int], name: str, size: int) -> IntArray:
    values = column.tolist() if hasattr(column, "tolist") else list(column)
    try:
        return np.fromiter(map(known.__getitem__, values), dtype=np.int64, count=len(values))
    except (KeyError, TypeError):
        for i, value in enumerate(values):
            if not isinstance(value, Hashable) or value not in known:
                what = "actions" if name == "action" else "states"
                raise UnknownSymbolError(
                    f"step {i + 1}: {name} is {value!r}, which is not one of the {size} {what}. Correct the data, or "
                    f"the {what} if they are wrong for reasons that have nothing to do with the data."
                ) from None
        raise


def _kept(
    count: int,
    episodes: Iterable[Hashable] | npt.NDArray[Any] | None,
    users: Iterable[Hashable] | npt.NDArray[Any] | None,
    max_steps: int | None,
    rng: RandomSource | None,
) -> tuple[BoolArray | None, Owner | None]:
    """Which steps are used, and what is limited."""
    if episodes is not None and users is not None:
        raise InvalidParameterError("give `episodes` or `users`, whichever is protected, not both")
    if (episodes is None and users is None) != (max_steps is None):
        raise InvalidParameterError(
            "`max_steps` is the most steps of an episode (`episodes`) or of a person (`users`) that are used: give both"
        )
    if max_steps is None:
        return None, None
    if isinstance(max_steps, bool) or not isinstance(max_steps, int) or not 1 <= max_steps <= LARGEST_NUMBER:
        raise InvalidParameterError(
            f"`max_steps` is {max_steps!r}: a whole number from 1 to 10^9, declared and not measured"
        )
    if users is not None:
        return chosen_words(person_codes(users, count), max_steps, checked_source(rng)), "user"
    owners = person_codes([] if episodes is None else episodes, count)
    order = np.argsort(owners, kind="stable")
    begins = np.flatnonzero(np.append(True, np.diff(owners[order]) != 0)) if count else np.empty(0, dtype=np.int64)
    place = np.arange(count) - np.repeat(begins, np.diff(np.append(begins, count)))
    kept: BoolArray = np.empty(count, dtype=bool)
    kept[order] = place < max_steps
    return kept, "episode"


def _checked_range(rewards: tuple[float, float] | None) -> tuple[float, float] | None:
    if rewards is None:
        return None
    try:
        low, high = (float(end) for end in rewards)
    except (TypeError, ValueError):
        low = high = float("nan")
    if not (-1e300 < low < high < 1e300) or not high - low > 1e-9 * max(abs(low), abs(high)):
        raise InvalidParameterError(
            f"rewards is {rewards!r}: it is the public range (lowest, highest) that rewards are held to, and wide "
            "enough to be told from its ends"
        )
    return low, high
