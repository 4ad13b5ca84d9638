"""A private model in a file: the JSON of its chain, with the public forecast of each row added, and where it was
learned the probabilities of first states and of lengths 1, 2, ...

Everything that reads the JSON of a chain (`MarkovChain.from_json`, `--chain`) reads a model too.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathveil.models.chain import PrivateChain
    from pathveil.privacy.guarantee import Guarantee
    from pathveil.systems.markov_chain import MarkovChain


def model_json(model: PrivateChain, promise: Guarantee) -> str:
    """The text of the file, with the promise of the release.

    What a row's forecast says is public wherever the guarantee of the model holds.
    """
    document = json.loads(model.chain.to_json(guarantee=asdict(promise)))
    document["model"] = {"mechanism": model.mechanism, "rows": [asdict(row) for row in model.rows]}
    for name, values in (("first", model.first), ("lengths", model.lengths)):
        if values is not None:
            document["model"][name] = values.tolist()
    return json.dumps(document, ensure_ascii=False) + "\n"


def read_model(path: Path) -> tuple[MarkovChain, Guarantee | None, dict[str, Any] | None]:
    """The chain, what was promised, and the forecasts; the last two are None for a chain that is no private model."""
    from pathveil.data.system_files import read_chain
    from pathveil.errors import InvalidSystemError
    from pathveil.privacy.guarantee import Guarantee

    chain = read_chain(path)
    forecasts = json.loads(path.read_text(encoding="utf-8-sig")).get("model")
    if chain.guarantee is None:
        return chain, None, None
    try:
        promise = Guarantee(**{**chain.guarantee, "public": tuple(chain.guarantee["public"])})
        if forecasts is not None:
            _check(forecasts, len(chain.symbols))
    except (KeyError, TypeError, ValueError):
        raise InvalidSystemError(f"{path}: what the model says about itself is not what PathVeil writes") from None
    return chain, promise, forecasts


def _check(forecasts: dict[str, Any], states: int) -> None:
    """An error where the model's own part of the file is not what `model_json` writes."""
    if len(forecasts["rows"]) != states or len(forecasts.get("first", range(states))) != states:
        raise ValueError
    for name in ("first", "lengths"):
        if name in forecasts:
            values = forecasts[name]
            if not all(isinstance(value, float | int) and value >= 0 for value in values) or not sum(values) > 0:
                raise ValueError
