"""Words in Apache Spark: the same mechanisms, checks and counts as for files, on as many machines as there are.

    check_files          what is wrong with the words of files, before anything is charged
    privatize_files      from files to a folder, which appears when it is complete, with a manifest beside it
    check_words          the same for the words of a DataFrame
    privatize            a DataFrame of private words
    privatize_to         such a DataFrame into a folder
    count_transitions    the exact table for a private chain
    read_coded_words     all different words and their exact counts, for a private model of sequences
    plain_errors         PathVeil's errors as such, out of a failed Spark job

`files_for_tasks` and `refuse_existing_folder` are for a release that looks at its input and output before it starts.

It needs `pathveil[spark]` and Java 17. docs/spark.md explains how private words stay the same when a task is run twice.
"""

from pathveil.data.spark.coded_words import read_coded_words
from pathveil.data.spark.counting import count_transitions
from pathveil.data.spark.failures import plain_errors
from pathveil.data.spark.files import check_files, privatize_files
from pathveil.data.spark.privatizing import check_words, privatize
from pathveil.data.spark.publishing import privatize_to, refuse_existing_folder
from pathveil.data.spark.row_groups import files_for_tasks

__all__ = [
    "check_files",
    "check_words",
    "count_transitions",
    "files_for_tasks",
    "plain_errors",
    "privatize",
    "privatize_files",
    "privatize_to",
    "read_coded_words",
    "refuse_existing_folder",
]
