"""What the readers of BPMN and PNML share: pm4py, and what is saved in the end."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from pathveil.data.public.petri_net import PetriNet
from pathveil.data.public.saved_system import SavedSystem
from pathveil.errors import InvalidSystemError, PathVeilError


def read_with_pm4py(path: str | Path, reader: str, **options: Any) -> Any:
    """What pm4py makes of the file. `reader` is the name of its function, `options` what it takes."""
    try:
        import pm4py
    except ImportError:
        raise InvalidSystemError(
            "process models are read with pm4py, which is not installed: pip install 'pathveil[processes]' (its "
            "licence is the AGPL)"
        ) from None
    try:
        with warnings.catch_warnings(action="ignore"):  # we say ourselves what is missing
            return getattr(pm4py, reader)(str(Path(path).absolute()), **options)  # it would take a URL, too
    except Exception as problem:  # whatever trips it up in a file of somebody else
        raise InvalidSystemError(
            f"{path}: pm4py cannot read this ({type(problem).__name__}: {problem}). Export the model again, as UTF-8."
        ) from None


def words_of_model(path: str | Path, kind: str, net: PetriNet) -> SavedSystem:
    """The words of a net as a system, with a sentence about where they come from."""
    try:
        words = net.words()
    except PathVeilError as problem:
        raise type(problem)(f"{path}: {problem}") from None
    silent = sum(one.label is None for one in net.transitions)
    source = f"{kind} model {Path(path).name}: {words.markings:,} markings, {silent:,} silent transitions"
    if words.never_ending:
        source += f"; {words.never_ending:,} markings lead to no end and were left out"
    return SavedSystem(words.automaton, source)
