"""Private models in files: what kind of model a file holds, and the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pathveil.errors import InvalidSystemError
from pathveil.models.chain import PrivateChain, chain_from_json
from pathveil.models.control import PrivateMDP, is_mdp
from pathveil.models.sequences import PrivateSequences, is_sequences


def load_model(path: str | Path) -> PrivateChain | PrivateSequences | PrivateMDP:
    """A private model that `save` or `pathveil model` wrote: a chain, a model of sequences or a decision process, as
    the file says.

    Raises `InvalidSystemError` where the file is something else or damaged.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidSystemError(f"{path}: this is not a text file, and no saved model") from None
    try:
        return model_from_json(text)
    except InvalidSystemError as problem:
        raise InvalidSystemError(f"{path}: {problem}") from None


def model_from_json(text: str) -> PrivateChain | PrivateSequences | PrivateMDP:
    """The model whose file has this text."""
    document = _document(text)
    if is_mdp(document):
        return PrivateMDP.from_json(document)
    if is_sequences(document):
        return PrivateSequences.from_json(document)
    if not text.lstrip().startswith("{"):
        raise InvalidSystemError("this is not the JSON of a model, which begins with a brace")
    try:
        return chain_from_json(text)
    except RecursionError:
        raise InvalidSystemError("this is not the JSON of a model: it is nested too deeply") from None


def sequences_in(text: str) -> PrivateSequences | None:
    """The model of sequences that the text of a file holds; None where it is, or should be, that of a chain."""
    document = _document(text)
    return PrivateSequences.from_json(document) if is_sequences(document) else None


def _document(text: str) -> Any:
    """What the JSON says; None where it is none, of which the reader of chains says what is wrong."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
