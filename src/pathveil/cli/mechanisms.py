"""The names of the word mechanisms, as a type that options can use without loading the mechanisms themselves."""

from __future__ import annotations

from typing import Literal, get_args

MechanismName = Literal["certified", "permute-and-flip", "exponential", "online"]
MECHANISM_NAMES: tuple[MechanismName, ...] = get_args(MechanismName)
