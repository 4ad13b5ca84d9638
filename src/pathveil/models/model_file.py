"""A private model in a file: the JSON of its chain, with the public forecast of each row added, and where it was
learned the probabilities of first states and of lengths 1, 2, ...

Everything that reads the JSON of a chain (`MarkovChain.from_json`, `--chain`) reads a model too.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from sys import float_info
from typing import TYPE_CHECKING, Any

from pathveil.errors import InvalidSystemError
from pathveil.privacy.guarantee import Guarantee
from pathveil.systems.markov_chain import MarkovChain

if TYPE_CHECKING:
    from pathveil.models.chain import PrivateChain

_OF_A_ROW = {"state", "records", "successors", "floor", "concentration", "rmse"}


def model_json(model: PrivateChain, promise: Guarantee) -> str:
    """The text of the file, with the promise of the release.

    What a row's forecast says is public wherever the guarantee of the model holds.
    """
    document = json.loads(model.chain.to_json(guarantee=promise.to_dict()))
    document["model"] = {"mechanism": model.mechanism, "rows": [asdict(row) for row in model.rows]}
    if model.asked is not None:
        document["model"] |= {"asked": asdict(model.asked), "words": model.words}
    for name, values in (("first", model.first), ("lengths", model.lengths)):
        if values is not None:
            document["model"][name] = values.tolist()
    return json.dumps(document, ensure_ascii=False) + "\n"


def model_parts(text: str) -> tuple[MarkovChain, Guarantee | None, dict[str, Any] | None]:
    """The chain, what was promised, and the forecasts; the last two are None for a chain that is no private model."""
    chain = MarkovChain.from_json(text)
    forecasts = json.loads(text).get("model")
    if chain.guarantee is None:
        return chain, None, None
    try:
        promise = Guarantee.from_dict(chain.guarantee)
        if forecasts is not None:
            _check(forecasts, len(chain.symbols))
    except (KeyError, TypeError, ValueError):
        raise InvalidSystemError("what the model says about itself is not what PathVeil writes") from None
    return chain, promise, forecasts


def _check(forecasts: dict[str, Any], states: int) -> None:
    """An error where the model's own part of the file is not what `model_json` writes."""
    rows = forecasts["rows"]
    if len(rows) != states or len(forecasts.get("first", range(states))) != states:
        raise ValueError
    if not isinstance(forecasts["mechanism"], str) or not isinstance(rows, list):
        raise TypeError
    for row in rows:
        if set(row) != _OF_A_ROW or not _is_count(row["successors"], states):
            raise ValueError
        if row["records"] is not None and not _is_count(row["records"], 2**62):
            raise ValueError
        if any(row[name] is not None and not _is_number(row[name]) for name in ("floor", "concentration", "rmse")):
            raise ValueError
    if forecasts.get("words") is not None and not _is_count(forecasts["words"], 2**62):
        raise ValueError
    for name in ("first", "lengths"):
        if name in forecasts and not (all(map(_is_number, forecasts[name])) and 0 < sum(forecasts[name]) < 2):
            raise ValueError


def _is_count(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and 0 <= value <= float_info.max
