"""A private model for all words, or all transitions, of some files; counted first, so that a mistake costs nothing."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from pathveil.errors import InvalidParameterError
from pathveil.release.model_choices import Choices, Counted, Model

if TYPE_CHECKING:
    from pathveil.data.encrypted_file import EncryptedFile
    from pathveil.data.formats import Layout
    from pathveil.data.reading import PairColumns, StepColumns
    from pathveil.data.sources import Format
    from pathveil.models.chain import PrivateChain
    from pathveil.models.control import PrivateMDP
    from pathveil.models.sequences import PrivateSequences, PrivateSequencesByGroup
    from pathveil.privacy.guarantee import Guarantee
    from pathveil.release.release import Release


@dataclass(frozen=True)
class ReleasedModel(Generic[Counted, Model]):
    """A model that is out, what was promised about it, and what was counted. The counts are for the curator."""

    model: Model
    promise: Guarantee
    counted: Counted


def release_model(
    files: Sequence[str],
    layout: Layout | PairColumns | StepColumns,
    choices: Choices[Counted, Model],
    release: Release,
    output: Path,
    matrix: Path | None = None,
    *,
    format: Format | None = None,
    progress: Callable[[str, int], None] | None = None,
) -> ReleasedModel[Counted, Model]:
    """Fit a private model and write it as JSON with a manifest beside it; of a chain the matrix as CSV where `matrix`
    says.
    """
    from pathveil.data.reading import PairColumns
    from pathveil.data.workspace import private_workspace

    choices.require_possible(from_words=not isinstance(layout, PairColumns))
    with ExitStack() as stack:
        workspace = stack.enter_context(private_workspace(output))
        # What is wrong with the input is found before it costs anything: all words are checked, whether they will be
        # used or not. Counting draws nothing but which words of each person are used, from bits that nothing else gets.
        # That may come before the charge: neither the price nor anything that is told depends on it, and if the charge
        # fails, it is forgotten with the counts, and the next run draws another choice.
        counted = choices.counted(files, layout, format, progress)
        model, promise = _fitted(choices, counted, release)
        # Both are written before the seal, so that a full disk is noticed while the charge can still be resumed.
        texts = {output: _encrypted(workspace, model.to_json(promise))}
        if matrix is not None:
            # Beside its own place, which may be on another disk: only there can it be given its name in one step.
            texts[matrix] = _encrypted(stack.enter_context(private_workspace(matrix)), _matrix_csv(model))
        release.seal(texts[output].digest)
        for text in texts.values():
            text.decrypt()
        _publish(texts, output, matrix, promise, release.cost, choices.overwrite)
    return ReleasedModel(model, promise, counted)


def _fitted(choices: Choices[Counted, Model], counted: Counted, release: Release) -> tuple[Model, Guarantee]:
    """The model, charged for before it is drawn, and its promise for a file."""
    promises: list[Guarantee] = []

    def charge(promise: Guarantee) -> None:
        if choices.on_bad_row == "skip":
            left_out = "which rows can be used (others are left out)"
            promise = replace(promise, public=(*promise.public, left_out))
        promises.append(promise)
        release.charge(promise, longest=choices.longest(counted), user=choices.user)

    model = choices.fitted(counted, charge)
    return model, promises[0]


def _publish(
    texts: Mapping[Path, EncryptedFile],
    output: Path,
    matrix: Path | None,
    promise: Guarantee,
    budget: dict[str, Any] | None,
    overwrite: bool,
) -> None:
    """Model, manifest and matrix appear together, or none of them."""
    from pathveil.data.writing import earlier_kept, is_out, publish, publish_with_manifest

    finished = texts[output].path
    if matrix is None:
        publish_with_manifest(finished, output, promise, budget=budget, overwrite=overwrite)
        return
    beside = texts[matrix].path
    with earlier_kept(matrix, beside.parent, overwrite, unless=lambda: is_out(finished, output)):
        publish(beside, matrix, overwrite)
        try:
            publish_with_manifest(finished, output, promise, budget=budget, overwrite=overwrite)
        except BaseException:
            if not is_out(finished, output):
                matrix.unlink(missing_ok=True)
            raise


def _encrypted(workspace: Path, text: str) -> EncryptedFile:
    """A text in a file that nobody can read until it is decrypted."""
    from pathveil.data.encrypted_file import EncryptedFile

    unfinished = EncryptedFile(workspace / "unfinished")
    with unfinished.for_writing() as file:
        file.write(text.encode())
    return unfinished


def _matrix_csv(model: PrivateChain | PrivateSequences | PrivateSequencesByGroup | PrivateMDP) -> str:
    """A row for each state: its name, then the probability of each state to follow, with all digits."""
    from pathveil.models.chain import PrivateChain

    if not isinstance(model, PrivateChain):
        raise InvalidParameterError("only a chain has a matrix of transitions: leave it out")
    chain, text = model.chain, io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["", *chain.symbols])
    for i, state in enumerate(chain.symbols):
        writer.writerow([state, *(repr(float(value)) for value in chain.matrix[[i], :].toarray()[0])])
    return text.getvalue()
