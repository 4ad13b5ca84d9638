"""The exponential mechanism for edit distance."""

from __future__ import annotations

from pathveil.words.classes import EXPONENTIAL
from pathveil.words.edit import EditMechanism


class EditExponential(EditMechanism):
    """P(w'|w) ∝ exp(-θ min(d(w, w'), cap)) over the feasible words of the allowed lengths, d the edit distance.

    θ = ε/(2 min(b, cap)), the published calibration with this distance in place of the number of errors. Private for
    every pair of words of allowed lengths within `adjacency` insertions, deletions and substitutions, feasible or not.

    >>> import pathveil as pv
    >>> m = pv.EditExponential(pv.Alphabet("abcdefghijklmnopqrstuvwxyz"), epsilon=12.0, lengths=(3, 8), cap=4)
    >>> m.error_law("trip")
    EditLaw(0 to 4 edits, mean 3.394)
    >>> 3 <= len(m.privatize("trip")) <= 8
    True
    """

    name = "exponential mechanism for edit distance (published calibration)"
    _selection = EXPONENTIAL
