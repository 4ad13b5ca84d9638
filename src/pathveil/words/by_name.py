"""The mechanisms that keep the length of a word, by the short names that people see; the default comes first."""

from __future__ import annotations

from pathveil.words.certified import CertifiedExponential
from pathveil.words.exponential import Exponential
from pathveil.words.mechanism import SameLengthMechanism
from pathveil.words.online import Online
from pathveil.words.permute_and_flip import PermuteAndFlip

MECHANISMS: dict[str, type[SameLengthMechanism]] = {
    "certified": CertifiedExponential,
    "permute-and-flip": PermuteAndFlip,
    "exponential": Exponential,
    "online": Online,
}
