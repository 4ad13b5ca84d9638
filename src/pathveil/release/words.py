"""Private words for the words of some files: checked first, so that a mistake in the input costs nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathveil.data.reading import OnBadRow
    from pathveil.data.writing import CuratorSummary
    from pathveil.privacy.guarantee import Guarantee
    from pathveil.release.release import Release
    from pathveil.release.runners import Runner
    from pathveil.words.base import WordMechanism


@dataclass(frozen=True)
class WordChoices:
    """What becomes of everything beside the words themselves; the arguments of `data.privatize_file`."""

    keep: tuple[str, ...] = ()
    keep_order: bool = False
    user: str | None = None
    max_words_per_user: int | None = None
    on_bad_row: OnBadRow = "fail"
    overwrite: bool = False


def release_words(
    runner: Runner,
    mechanism: WordMechanism,
    output: Path,
    release: Release,
    choices: WordChoices,
    *,
    choose: Callable[[Mapping[int, int]], WordMechanism] | None = None,
) -> CuratorSummary:
    """One private word for each word, in a file (on Spark: a folder) with a manifest beside it.

    Under a ledger all words are looked at before anything is charged. Raises what the check, the ledger or the drawing
    raises; the output is then not there.

    With `choose`, words are checked for `mechanism` and released with the one that `choose` returns, which must accept
    the same words. It is told how many words have each length, where `mechanism` takes lengths as public; otherwise {}.
    """
    lengths: Mapping[int, int] = {}
    public_lengths = mechanism.accepted_lengths is None
    if choose is not None and release.ledger is not None:
        # A budget that has no price for this, perhaps because it protects lengths, says so before anything else is.
        release.ledger.price(
            _promise(mechanism, choices),
            longest=1 if public_lengths else None,
            user=choices.user,
            words_per_user=choices.max_words_per_user,
            loss_at=lambda _: 0.0,  # whether there is a price is asked, not which
        )
    if release.ledger is not None or (choose is not None and public_lengths):
        lengths = runner.check(mechanism, choices).lengths
    if choose is not None:
        mechanism = choose(lengths if public_lengths else {})
        if (mechanism.accepted_lengths is None) != public_lengths:
            raise AssertionError("what is chosen takes as public what the words were checked for")
    promise = _promise(mechanism, choices)

    def charge() -> dict[str, Any] | None:
        runner.require_unchanged()  # the price is that of the words that were checked
        return release.charge(
            promise,
            # Where lengths are protected, the longest word of the data must not decide what is charged.
            longest=max(lengths, default=None) if mechanism.accepted_lengths is None else None,
            user=choices.user,
            words_per_user=choices.max_words_per_user,
            loss_at=partial(mechanism.loss_at, lengths=lengths),
        )

    summary = runner.privatize(mechanism, output, choices, before_drawing=charge, seal=release.seal)
    release.output = runner.digest(output)
    if summary.guarantee != promise:
        raise AssertionError("the guarantee of the release is not the one that was charged")
    return summary


def _promise(mechanism: WordMechanism, choices: WordChoices) -> Guarantee:
    from pathveil.data.writing import file_guarantee

    return file_guarantee(mechanism, keep=choices.keep, keep_order=choices.keep_order, on_bad_row=choices.on_bad_row)
