"""Words around a word, sorted by their distance from it: counted, and drawn from, a class at a time."""

from pathveil.words.classes.batches import (
    LONGEST_LAW,
    Block,
    class_blocks,
    equal_together,
    free_blocks,
    is_small,
    table_fits,
)
from pathveil.words.classes.counter import ClassCounter
from pathveil.words.classes.few_errors import counts_near
from pathveil.words.classes.hamming import (
    ErrorClasses,
    classes_of_codes,
    draw_by_class,
    error_classes,
    free_counts,
)
from pathveil.words.classes.selection import EXPONENTIAL, PERMUTE_AND_FLIP, Selection

__all__ = [
    "EXPONENTIAL",
    "LONGEST_LAW",
    "PERMUTE_AND_FLIP",
    "Block",
    "ClassCounter",
    "ErrorClasses",
    "Selection",
    "class_blocks",
    "classes_of_codes",
    "counts_near",
    "draw_by_class",
    "equal_together",
    "error_classes",
    "free_blocks",
    "free_counts",
    "is_small",
    "table_fits",
]
