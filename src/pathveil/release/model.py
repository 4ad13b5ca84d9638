"""A private chain for all words, or all transitions, of some files; counted first, so that a mistake costs nothing."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathveil.data.encrypted_file import EncryptedFile
    from pathveil.data.formats import Layout
    from pathveil.data.reading import CuratorCounts, OnBadRow, PairColumns
    from pathveil.data.sources import Format
    from pathveil.models.chain import Mechanism, PrivateChain, Unit
    from pathveil.privacy.guarantee import Guarantee
    from pathveil.privacy.units import Neighbours
    from pathveil.release.release import Release


@dataclass(frozen=True)
class ModelChoices:
    """What is fitted and promised; the arguments of `fit_private_chain`, with the same meaning of None, the column
    `user` that says whose word it is, and the column `count` of rows that stand for several words or transitions.
    """

    states: Sequence[Any]
    epsilon: float
    delta: float | None
    mechanism: Mechanism | None
    unit: Unit
    support: Any = None
    max_length: int | None = None
    split: Mapping[str, float] | None = None
    user: str | None = None
    max_words_per_user: int | None = None
    neighbours: Neighbours = "replace"
    count: str | None = None
    on_bad_row: OnBadRow = "fail"
    overwrite: bool = False

    def require_possible(self, *, from_words: bool) -> None:
        """Refuse choices that no data can be fitted with."""
        from pathveil.models.chain import checked_request

        promise = (self.epsilon, self.delta, self.max_length, self.split)
        checked_request(
            self.mechanism, self.unit, *promise, floor=None, mix=True, from_words=from_words,
            max_words_per_user=self.max_words_per_user, neighbours=self.neighbours,
        )  # fmt: skip


@dataclass(frozen=True)
class ReleasedModel:
    """A model that is out, what was promised about it, and what was counted. The counts are for the curator."""

    model: PrivateChain
    promise: Guarantee
    counted: CuratorCounts


def release_model(
    files: Sequence[str],
    layout: Layout | PairColumns,
    choices: ModelChoices,
    release: Release,
    output: Path,
    matrix: Path | None = None,
    *,
    format: Format | None = None,
    progress: Callable[[str, int], None] | None = None,
) -> ReleasedModel:
    """Fit a private chain and write it as JSON with a manifest beside it, and its matrix as CSV where `matrix` says."""
    from pathveil.data.reading import PairColumns, count_transitions
    from pathveil.data.workspace import private_workspace

    choices.require_possible(from_words=not isinstance(layout, PairColumns))
    with ExitStack() as stack:
        workspace = stack.enter_context(private_workspace(output))
        # What is wrong with the input is found before it costs anything: all words are checked, whether they will be
        # used or not. Counting draws nothing but which words of each person are used, from bits that nothing else gets.
        # That may come before the charge: neither the price nor anything that is told depends on it, and if the charge
        # fails, it is forgotten with the counts, and the next run draws another choice.
        counted = count_transitions(
            files,
            layout,
            choices.states,
            max_length=choices.max_length,
            count=choices.count,
            user=choices.user,
            max_words_per_user=choices.max_words_per_user,
            on_bad_row=choices.on_bad_row,
            format=format,
            progress=progress,
        )
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


def _fitted(choices: ModelChoices, counted: CuratorCounts, release: Release) -> tuple[PrivateChain, Guarantee]:
    """The model, charged for before it is drawn, and its promise for a file."""
    from pathveil.models.chain import fit_private_chain

    promises: list[Guarantee] = []

    def charge(promise: Guarantee) -> None:
        if choices.on_bad_row == "skip":
            left_out = "which rows can be used (others are left out)"
            promise = replace(promise, public=(*promise.public, left_out))
        promises.append(promise)
        # A model of symbols takes lengths as public; the others protect them, or do not know them.
        release.charge(promise, longest=counted.longest if choices.unit == "symbol" else None, user=choices.user)

    model = fit_private_chain(
        counted.counts if counted.words is None else counted.words,
        states=choices.states,
        epsilon=choices.epsilon,
        delta=choices.delta,
        mechanism=choices.mechanism,
        support=choices.support,
        unit=choices.unit,
        max_length=choices.max_length,
        split=choices.split,
        max_words_per_user=choices.max_words_per_user,
        neighbours=choices.neighbours,
        before_drawing=charge,
    )
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


def _matrix_csv(model: PrivateChain) -> str:
    """A row for each state: its name, then the probability of each state to follow, with all digits."""
    chain, text = model.chain, io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["", *chain.symbols])
    for i, state in enumerate(chain.symbols):
        writer.writerow([state, *(repr(float(value)) for value in chain.matrix[[i], :].toarray()[0])])
    return text.getvalue()
