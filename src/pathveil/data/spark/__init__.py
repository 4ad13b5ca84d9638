"""Words in Apache Spark: the same mechanisms, checks and counts as for files, on as many machines as there are.

    check_words          what is wrong with the words, before anything is charged
    privatize            a DataFrame of private words
    privatize_to         the same into a folder, which appears when it is complete, with a manifest beside it
    count_transitions    the exact table for a private model
    plain_errors         PathVeil's errors as such, out of a failed Spark job

It needs `pathveil[spark]` and Java 17. docs/spark.md explains how private words stay the same when a task is run twice.
"""

from pathveil.data.spark.counting import count_transitions
from pathveil.data.spark.failures import plain_errors
from pathveil.data.spark.privatizing import check_words, privatize
from pathveil.data.spark.publishing import privatize_to

__all__ = ["check_words", "count_transitions", "plain_errors", "privatize", "privatize_to"]
