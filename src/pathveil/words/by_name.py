"""The word mechanisms by the short names that people see; the default comes first."""

from __future__ import annotations

from pathveil.words.base import SameLengthMechanism
from pathveil.words.certified import CertifiedExponential
from pathveil.words.edit import EditMechanism
from pathveil.words.edit_certified import CertifiedEditExponential
from pathveil.words.edit_exponential import EditExponential
from pathveil.words.edit_permute_and_flip import EditPermuteAndFlip
from pathveil.words.exponential import Exponential
from pathveil.words.online import Online
from pathveil.words.permute_and_flip import PermuteAndFlip

MECHANISMS: dict[str, type[SameLengthMechanism]] = {
    "certified": CertifiedExponential,
    "permute-and-flip": PermuteAndFlip,
    "exponential": Exponential,
    "online": Online,
}
"""Those that keep the length of a word."""

EDIT_MECHANISMS: dict[str, type[EditMechanism]] = {
    "certified": CertifiedEditExponential,
    "permute-and-flip": EditPermuteAndFlip,
    "exponential": EditExponential,
}
"""Those for edit distance."""
