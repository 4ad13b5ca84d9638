"""Private models in files: what kind of model a file holds, and the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pathveil.errors import InvalidSystemError
from pathveil.models.chain import PrivateChain, chain_from_json
from pathveil.models.control import PrivateMDP, is_mdp
from pathveil.models.sequences import PrivateSequences, PrivateSequencesByGroup, is_by_group, is_sequences


def load_model(path: str | Path) -> PrivateChain | PrivateSequences | PrivateSequencesByGroup | PrivateMDP:
    """A private model that `save` or `pathveil model` wrote: a chain, a model of sequences, those of several groups, or
    a decision process, as the file says.

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


def model_from_json(text: str) -> PrivateChain | PrivateSequences | PrivateSequencesByGroup | PrivateMDP:
    """The model whose file has this text."""
    found = mdp_in(text) or sequences_in(text)
    if found is not None:
        return found
    if not text.lstrip().startswith("{"):
        raise InvalidSystemError("this is not the JSON of a model, which begins with a brace")
    try:
        return chain_from_json(text)
    except RecursionError:
        raise InvalidSystemError("this is not the JSON of a model: it is nested too deeply") from None


def mdp_in(text: str) -> PrivateMDP | None:
    """The decision process in the text of a file; None where it is something else."""
    document = _document(text)
    return PrivateMDP.from_json(document) if is_mdp(document) else None


def sequences_in(text: str) -> PrivateSequences | PrivateSequencesByGroup | None:
    """The model (or models) of sequences in the text of a file; None where it is, or should be, that of a chain."""
    document = _document(text)
    if is_by_group(document):
        return PrivateSequencesByGroup.from_json(document)
    return PrivateSequences.from_json(document) if is_sequences(document) else None


def _document(text: str) -> Any:
    """What the JSON says; None where it is none, of which the reader of chains says what is wrong."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
