"""The word mechanisms by the names that the command line uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathveil.words.mechanism import SameLengthMechanism

MechanismName = Literal["certified", "permute-and-flip", "exponential", "online"]


def mechanism_classes() -> dict[MechanismName, type[SameLengthMechanism]]:
    """Every mechanism for words; the first is the one that is used if none is named."""
    from pathveil.words.certified import CertifiedExponential
    from pathveil.words.exponential import Exponential
    from pathveil.words.online import Online
    from pathveil.words.permute_and_flip import PermuteAndFlip

    return {
        "certified": CertifiedExponential,
        "permute-and-flip": PermuteAndFlip,
        "exponential": Exponential,
        "online": Online,
    }
