"""What is public, on its way from the driver to the executors."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from pyspark import SparkContext

T = TypeVar("T")


class Sent(Generic[T]):
    """Something that is no secret, for tasks to use: a mechanism, a list of files. It travels apart from the key.

    Spark writes what is large to temporary files, and the key must not get there together with it. A process that does
    several tasks unpacks it once, so that the tasks share what a mechanism has worked out.
    """

    def __init__(self, value: T, context: SparkContext) -> None:
        self._broadcast: Any = context.broadcast(_Packed(value))

    @property
    def value(self) -> T:
        """What was sent. Only for tasks."""
        value: T = self._broadcast.value
        return value


class _Packed:
    """Becomes the value when it is unpickled. By itself a broadcast could not carry classes of a notebook."""

    def __init__(self, value: object) -> None:
        from pyspark import cloudpickle

        self._packed: bytes = cloudpickle.dumps(value)  # type: ignore[no-untyped-call]

    def __reduce__(self) -> tuple[Callable[[bytes], object], tuple[bytes]]:
        return pickle.loads, (self._packed,)
