"""What a release says about itself: a JSON file beside the output.

Everything in it follows from the public system, the mechanism and the options, which are settled before the data are
read. Counts of rows, of skipped rows or of the words of a user are not in it. One exception: what the release cost in
the unit of a budget may depend on the length of the longest word, where that unit takes lengths as public.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf, nextafter
from pathlib import Path
from typing import Any

import pathveil
from pathveil.data.fingerprint import system_fingerprint
from pathveil.data.writing.publishing import earlier_kept, flush, is_out, publish
from pathveil.errors import FileItselfError, InvalidParameterError
from pathveil.privacy.guarantee import Guarantee
from pathveil.systems.system import System
from pathveil.words.base import WordMechanism

_FORMAT = "pathveil manifest"
_VERSION = 2

Budget = Mapping[str, Any]
BeforeDrawing = Callable[[], Budget | None]


def file_guarantee(
    mechanism: WordMechanism, *, keep: Sequence[str] = (), keep_order: bool = False, on_bad_row: str = "fail"
) -> Guarantee:
    """What a mechanism promises for each word of a file that is released with these options."""
    promise = mechanism.guarantee
    public = list(promise.public)
    public.append("how many words there are")
    if keep:
        public.append(f"the kept columns, released as they are ({', '.join(map(repr, keep))})")
    if keep_order:
        public.append("the order of the words in the file")
    if on_bad_row == "skip":
        public.append("which rows hold a word that can be released (others are left out)")
    return replace(promise, public=tuple(public))


def user_guarantee(promise: Guarantee, max_words: int) -> tuple[float, float]:
    """(ε, δ) for all words of one user together, by adding up; rounded up, never down."""
    return _times(promise.epsilon, max_words), min(1.0, _times(promise.delta, max_words))


def user_unit(promise: Guarantee, max_words: int) -> str:
    """What is protected when all words of one user count together."""
    return f"all words of one user, at most {max_words}, each of them {promise.unit}"


def _times(value: float, count: int) -> float:
    product = value * count if count < 2**53 else inf
    if product == inf:
        raise InvalidParameterError(f"{count} words of ε = {value:g} each promise nothing together. Lower the limit.")
    return product if Fraction(product) >= Fraction(value) * count else nextafter(product, inf)


def manifest(
    output: Path,
    promise: Guarantee,
    world: System | None,
    max_words_per_user: int | None,
    budget: Budget | None = None,
) -> dict[str, Any]:
    """The content of a manifest. `budget`: what the release cost in the unit of a ledger, and why."""
    content: dict[str, Any] = {
        "format": _FORMAT,
        "version": _VERSION,
        "file": output.name,
        **promise.to_dict(),
        "guarantee": str(promise),
        "pathveil": pathveil.__version__,
    }
    if world is not None:
        content["system"] = {"description": repr(world), "fingerprint": system_fingerprint(world)}
    if max_words_per_user is not None:
        content["per_user"] = per_user(promise, max_words_per_user)
    if budget is not None:
        content["budget"] = dict(budget)
    return content


def per_user(promise: Guarantee, max_words: int) -> dict[str, Any]:
    """What a manifest says about all words of a user together."""
    epsilon, delta = user_guarantee(promise, max_words)
    return {"max_words": max_words, "epsilon": epsilon, "delta": delta, "unit": user_unit(promise, max_words)}


def manifest_path(output: Path) -> Path:
    """`private.parquet` has the manifest `private.parquet.manifest.json`."""
    if not output.name:
        raise FileItselfError(f"{output} is a folder: name a file to write to")
    return output.with_name(output.name + ".manifest.json")


def write_manifest(
    workspace: Path,
    output: Path,
    promise: Guarantee,
    world: System | None = None,
    max_words_per_user: int | None = None,
    *,
    budget: Budget | None = None,
    overwrite: bool = False,
) -> Path:
    """Write the manifest of an output; like the output it appears complete or not at all."""
    unfinished = workspace / "unfinished-manifest"
    content = manifest(output, promise, world, max_words_per_user, budget)
    unfinished.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    path = manifest_path(output)
    publish(unfinished, path, overwrite)
    return path


def publish_with_manifest(
    finished: Path,
    output: Path,
    promise: Guarantee,
    world: System | None = None,
    max_words_per_user: int | None = None,
    *,
    budget: Budget | None = None,
    overwrite: bool = False,
) -> None:
    """Give a complete file in a private workspace its final name, and write its manifest.

    The manifest comes first: if the power fails in between, better a promise without a file than the other way round.
    An old output never lies beside a new promise, not even briefly: it is set aside, and comes back if this fails.
    """
    workspace = finished.parent
    flush(finished)  # what takes long comes before the old output is set aside
    with (
        earlier_kept(output, workspace, overwrite, unless=lambda: is_out(finished, output)),
        earlier_kept(manifest_path(output), workspace, overwrite, unless=lambda: is_out(finished, output)),
    ):
        made = write_manifest(workspace, output, promise, world, max_words_per_user, budget=budget, overwrite=overwrite)
        try:
            publish(finished, output, overwrite)
        except BaseException:
            # Interrupted after the file got its name, the manifest belongs to it and stays.
            if not is_out(finished, output):
                made.unlink(missing_ok=True)
            raise
