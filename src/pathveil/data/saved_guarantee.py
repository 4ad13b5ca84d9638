"""A guarantee that is read from a file: a manifest, or the JSON of a model. Files can be edited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from sys import float_info
from typing import Any

from pathveil.privacy.guarantee import Guarantee


def saved_guarantee(content: Mapping[str, Any]) -> Guarantee:
    """The guarantee in these fields; KeyError, TypeError or ValueError where they are not those of one."""
    named = {field.name: content[field.name] for field in fields(Guarantee)}
    if not isinstance(named["public"], list | tuple):
        raise TypeError("public")
    promise = Guarantee(**{**named, "public": tuple(named["public"])})
    texts = (promise.unit, promise.mechanism, promise.sampling, *promise.public)
    if not all(isinstance(text, str) and text for text in texts) or not isinstance(promise.seeded, bool):
        raise TypeError("a text")
    for number in (promise.epsilon, promise.delta):
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= float_info.max:
            raise ValueError("a number")
    return promise
