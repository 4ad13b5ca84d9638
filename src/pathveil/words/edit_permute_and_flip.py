"""Permute-and-flip for edit distance."""

from __future__ import annotations

from pathveil.words.classes import PERMUTE_AND_FLIP
from pathveil.words.edit import EditMechanism


class EditPermuteAndFlip(EditMechanism):
    """PF's permute-and-flip over the feasible words of the allowed lengths, scored by -min(edit distance, cap).

    θ = ε/(2 min(b, cap)). At most as far from the sensitive word as `EditExponential` on average, and at least half as
    far. Private for every pair of words of allowed lengths within `adjacency` edits, feasible or not.

    >>> import pathveil as pv
    >>> m = pv.EditPermuteAndFlip(pv.Alphabet("abcdefghijklmnopqrstuvwxyz"), epsilon=12.0, lengths=(3, 8), cap=4)
    >>> m.error_law("trip")
    EditLaw(0 to 4 edits, mean 3.351)
    """

    name = "permute-and-flip for edit distance"
    _selection = PERMUTE_AND_FLIP
