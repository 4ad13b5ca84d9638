"""The names of the word mechanisms, as a type that options can use without loading the mechanisms themselves."""

from __future__ import annotations

from typing import Literal

MechanismName = Literal["certified", "permute-and-flip", "exponential", "online"]
