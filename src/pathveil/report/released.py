"""What was released, read back and checked: what a manifest says, and a private model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pathveil.data.writing import per_user
from pathveil.errors import DataFileError, InvalidParameterError, PathVeilError
from pathveil.planning.distances import Measured
from pathveil.privacy.guarantee import Guarantee
from pathveil.privacy.units import Edits, MovedSymbols, Symbols
from pathveil.systems.markov_chain import MarkovChain
from pathveil.systems.system import System
from pathveil.words.base import WordMechanism
from pathveil.words.by_name import EDIT_MECHANISMS, MECHANISMS
from pathveil.words.distances import DISTANCES_ARE_PUBLIC

_CAP = re.compile(r"^the cap \(words (\d+) or more edits away")

_RADIUS = re.compile(rf"^{DISTANCES_ARE_PUBLIC} \(radius ([0-9.e+]+)\)$")

ORDER_RELEASED = "the order of the words in the file"


@dataclass(frozen=True)
class Released:
    """A manifest: what was released and what was promised."""

    path: Path
    file: str
    promise: Guarantee
    version: str
    system: dict[str, str] | None
    per_user: dict[str, Any] | None
    budget: dict[str, Any] | None = None

    @property
    def data_file(self) -> Path:
        """Where the released file lies, beside its manifest."""
        return self.path.with_name(self.file)

    @property
    def protects_length(self) -> bool:
        """Private words need not be as long as the sensitive ones: the distance is edit distance."""
        return isinstance(self.promise.protects, Edits)


def read_manifest(path: Path) -> Released:
    """A manifest from its file; an error where it is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise DataFileError(f"{path}: this is not UTF-8, and so no manifest") from None
    except (ValueError, RecursionError) as problem:
        raise DataFileError(f"{path}: this is not JSON, and so no manifest ({problem})") from None
    if not isinstance(content, dict) or content.get("format") != "pathveil manifest":
        raise DataFileError(f"{path}: this is not a manifest. Give the file that ends in .manifest.json.")
    if content.get("version") != 2:
        raise DataFileError(
            f"{path}: the manifest has version {content.get('version')!r}; this release of PathVeil reads version 2"
        )
    try:
        promise = Guarantee.from_dict(content)
        sound = (
            all(isinstance(text, str) for text in (content["file"], content["pathveil"]))
            and Path(content["file"]).name == content["file"]
            and _is_system(content.get("system"))
            and _is_per_user(content.get("per_user"), promise)
            and _is_budget(content.get("budget"))
        )
        if not sound or content["guarantee"] != str(promise):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise DataFileError(
            f"{path}: the manifest is not what PathVeil writes: something is missing, or its numbers and its sentence "
            "disagree. It may have been edited."
        ) from None
    others = (content.get(name) for name in ("system", "per_user", "budget"))
    return Released(path, content["file"], promise, content["pathveil"], *others)


def _is_system(listed: Any) -> bool:
    if listed is None:
        return True
    return isinstance(listed, dict) and all(isinstance(listed[name], str) for name in ("description", "fingerprint"))


def _is_budget(listed: Any) -> bool:
    if listed is None:
        return True
    texts = all(isinstance(listed[name], str) for name in ("unit", "conversion"))
    return texts and all(type(listed[name]) is float and listed[name] >= 0 for name in ("epsilon", "delta"))


def _is_per_user(listed: Any, promise: Guarantee) -> bool:
    """What holds for all words of a user follows from the rest; another number there was not written by us."""
    return listed is None or (type(listed["max_words"]) is int and listed == per_user(promise, listed["max_words"]))


def rebuilt_mechanism(
    world: System, promise: Guarantee, max_length: int | None, measured: Measured | None = None
) -> WordMechanism | None:
    """The mechanism of a release, if one of ours makes this very promise on this system; otherwise None.

    A release with distances needs the same ones again (`measured`); the radius stands in the promise.
    """
    by_distance = any(item.startswith(DISTANCES_ARE_PUBLIC) for item in promise.public)
    if by_distance != (measured is not None):
        return None
    unit = promise.protects
    known: Iterable[type[WordMechanism]] = (EDIT_MECHANISMS if isinstance(unit, Edits) else MECHANISMS).values()
    kinds = [kind for kind in known if promise.mechanism.startswith(f"{kind.name} on ")]
    if not isinstance(unit, Symbols | MovedSymbols | Edits) or len(kinds) != 1:
        return None
    options: dict[str, Any] = {}
    if isinstance(unit, Edits):
        caps = [int(cap[1]) for item in promise.public if (cap := _CAP.search(item))]
        options = {"lengths": (unit.shortest, unit.longest), "cap": caps[0] if caps else None}
    elif kinds[0].is_certified:
        options["max_length"] = max_length
    if measured is not None:
        told = next(filter(None, map(_RADIUS.search, promise.public)), None)
        if told is not None and told[1] != f"{measured.distance.radius:g}":
            measured = replace(measured, distance=measured.distance.with_radius(float(told[1])))
        options |= measured.options
    for on_infeasible in ("refuse", "nearest"):
        try:
            made = kinds[0](world, promise.epsilon, unit.adjacency, on_infeasible=on_infeasible, **options)
        except PathVeilError:
            return None
        own = made.guarantee
        same = own.protects == unit and own.mechanism == promise.mechanism
        if same and set(own.public) <= set(promise.public):
            return made
    return None


def require_same_system(released: Released, world: System) -> None:
    """An error where a release was made on another public system than the one given."""
    from pathveil.data.fingerprint import system_fingerprint

    if released.system is not None and released.system.get("fingerprint") != system_fingerprint(world):
        raise InvalidParameterError(
            f"{released.path}: the release was made on another public system than the one given. Give the same file."
        )


def read_model_of(world: System, path: Path) -> tuple[MarkovChain, list[dict[str, Any]]]:
    """A private model over the symbols of the system, and the forecasts of its rows, both in the system's order."""
    from pathveil.data.public import read_model

    chain, _, forecasts = read_model(path)
    place = {str(state): i for i, state in enumerate(chain.symbols)}
    missing = [name for name in map(str, world.symbols) if name not in place]
    if missing or len(place) != len(world.symbols):
        raise InvalidParameterError(f"{path}: the model and the public system do not have the same symbols")
    order = [place[str(name)] for name in world.symbols]
    rows = [] if forecasts is None else [forecasts["rows"][i] for i in order]
    return MarkovChain.from_counts(world.symbols, chain.matrix[order][:, order]), rows
