"""A private decision process in a file: JSON with one entry for each possible pair of state and action."""

from __future__ import annotations

import json
from sys import float_info
from typing import Any, NamedTuple

import numpy as np

from pathveil.errors import InvalidSystemError, PathVeilError
from pathveil.models.chain import Mechanism
from pathveil.models.control.process import DecisionProcess
from pathveil.models.control.value_error import RowNoise
from pathveil.privacy.guarantee import Guarantee

_KIND = "private decision process"


class Parts(NamedTuple):
    """All that a file holds, as `PrivateMDP` has it."""

    process: DecisionProcess
    guarantee: Guarantee
    mechanism: Mechanism
    noise: RowNoise
    reward_scale: float | None
    reward_range: tuple[float, float] | None


def mdp_json(parts: Parts) -> str:
    """The text of the file: of each row the states that may follow, and their probabilities."""
    process, noise = parts.process, parts.noise
    s, a = np.nonzero(process.possible)
    rows = process.transitions[s, a]
    for name in (*process.states, *process.actions):
        if not isinstance(name, str | int) or isinstance(name, bool):
            raise InvalidSystemError(f"{name!r} is neither a text nor a whole number: a file keeps no others apart")
    document = {
        "kind": _KIND,
        "states": list(process.states),
        "actions": list(process.actions),
        "rows": [
            {
                "state": int(i),
                "action": int(j),
                "next": np.flatnonzero(row).tolist(),
                "probabilities": row[row != 0].tolist(),
                "reward": float(process.rewards[i, j]),
                "total": float(total),
                "successors": int(size),
            }
            for i, j, row, total, size in zip(s, a, rows, noise.totals, noise.successors, strict=True)
        ],
        "mechanism": parts.mechanism,
        "sizes_are_public": noise.sizes_are_public,
        "count_scale": noise.count_scale,
        "dirichlet_spread": None if noise.dirichlet_spread is None else noise.dirichlet_spread.tolist(),
        "reward_scale": parts.reward_scale,
        "reward_range": parts.reward_range,
        "guarantee": parts.guarantee.to_dict(),
    }
    return json.dumps(document, ensure_ascii=False) + "\n"


def is_mdp(document: Any) -> bool:
    """Does what a file holds say that it is a decision process?"""
    return isinstance(document, dict) and document.get("kind") == _KIND


def mdp_parts(document: dict[str, Any]) -> Parts:
    """What `mdp_json` wrote, read back; `InvalidSystemError` for anything else. Files can be edited."""
    try:
        states, actions, rows = tuple(document["states"]), tuple(document["actions"]), document["rows"]
        shape = (len(states), len(actions))
        if len(set(states)) < len(states) or len(set(actions)) < len(actions):
            raise ValueError
        transitions, rewards, possible = np.zeros((*shape, shape[0])), np.zeros(shape), np.zeros(shape, dtype=bool)
        for row in rows:
            i, j = _index(row["state"], shape[0]), _index(row["action"], shape[1])
            follow = [_index(t, shape[0]) for t in row["next"]]
            if possible[i, j] or len(follow) != len(row["probabilities"]):
                raise ValueError
            possible[i, j], transitions[i, j, follow] = True, [_number(p) for p in row["probabilities"]]
            rewards[i, j] = _number(row["reward"])
        where = list(zip(*np.nonzero(possible), strict=True))
        if [(row["state"], row["action"]) for row in rows] != where or document["mechanism"] not in (
            "dirichlet",
            "laplace",
            "gaussian",
        ):
            raise ValueError
        spread, scale = document["dirichlet_spread"], document["count_scale"]
        noise = RowNoise(
            document["mechanism"],
            bool(document["sizes_are_public"]),
            np.array([_number(row["total"]) for row in rows]),
            np.array([_index(row["successors"], shape[0] + 1) for row in rows]),
            None if scale is None else _number(scale),
            None if spread is None else np.array([_number(x) for x in spread]),
        )
        if (noise.count_scale is None) == (spread is None) or (spread is not None and len(spread) != len(rows)):
            raise ValueError
        paid, ends = document["reward_scale"], document["reward_range"]
        low_high = None if ends is None else (_number(ends[0]), _number(ends[1]))
        process = DecisionProcess(states, actions, transitions, rewards, possible)
        promise = Guarantee.from_dict(document["guarantee"])
        return Parts(process, promise, document["mechanism"], noise, None if paid is None else _number(paid), low_high)
    except (PathVeilError, KeyError, TypeError, ValueError, IndexError):
        raise InvalidSystemError("this is not a decision process as PathVeil writes it") from None


def _index(value: Any, below: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < below:
        raise ValueError(value)
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= float_info.max:
        raise ValueError(value)
    return float(value)
