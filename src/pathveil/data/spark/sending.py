"""What is public, on its way from the driver to the executors."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from pyspark import SparkContext

T = TypeVar("T")


class Sent(Generic[T]):
    """Something large that is no secret, apart from the key.

    Spark writes what is large to temporary files, so the key must not travel together with a mechanism, which may be
    large, or with a list of many files.
    """

    def __init__(self, value: T, context: SparkContext) -> None:
        from pyspark import cloudpickle

        # A broadcast by itself would send classes by name, also those that are only in a notebook.
        self._broadcast = context.broadcast(cloudpickle.dumps(value))  # type: ignore[no-untyped-call]
        self._value: T | None = None

    @property
    def value(self) -> T:
        if self._value is None:
            self._value = pickle.loads(self._broadcast.value)
        assert self._value is not None
        return self._value
