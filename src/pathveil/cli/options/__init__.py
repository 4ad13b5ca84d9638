"""What commands are told: options that belong together, each bundle declared once and passed on as one value.

    takes_bundles    makes a command that takes bundles readable for typer
    SystemFile       the public system; Ends: where its words begin and end
    Input, Columns   the sensitive words, and how they stand in their files
    ModelInput       the same for `pathveil model`; Learned: times and groups
    Fit, Pairs       what a model is made of, and what it promises
    Decisions        steps of a decision process
    Work             this process, or Spark
    Distance         substitutions or edits; Places: how far symbols are apart
    Budget           the ledger that is charged
    Output           the file that is written
    Printing         what is printed

Beside them single options that several commands share, and the headings under which help lists them.
"""

from pathveil.cli.options.budget import Budget, Curator, LedgerFile
from pathveil.cli.options.bundles import takes_bundles
from pathveil.cli.options.decisions import Decisions
from pathveil.cli.options.engine import Work
from pathveil.cli.options.fit import Fit, Pairs
from pathveil.cli.options.input import WHERE_WORDS_ARE, Columns, Input, OnBadRow
from pathveil.cli.options.mechanism import (
    HOW_PRIVATE,
    Adjacency,
    Distance,
    Epsilon,
    MechanismName,
    OnInfeasible,
    Places,
)
from pathveil.cli.options.model_input import Learned, ModelInput
from pathveil.cli.options.output import Json, Output, Overwrite, Printing, Quiet
from pathveil.cli.options.system import (
    WHAT_IS_PUBLIC,
    Ends,
    SystemFile,
    file_of,
    read_alphabet,
    read_edges,
    refuse_sensitive,
)

__all__ = [
    "HOW_PRIVATE",
    "WHAT_IS_PUBLIC",
    "WHERE_WORDS_ARE",
    "Adjacency",
    "Budget",
    "Columns",
    "Curator",
    "Decisions",
    "Distance",
    "Ends",
    "Epsilon",
    "Fit",
    "Input",
    "Json",
    "Learned",
    "LedgerFile",
    "MechanismName",
    "ModelInput",
    "OnBadRow",
    "OnInfeasible",
    "Output",
    "Overwrite",
    "Pairs",
    "Places",
    "Printing",
    "Quiet",
    "SystemFile",
    "Work",
    "file_of",
    "read_alphabet",
    "read_edges",
    "refuse_sensitive",
    "takes_bundles",
]
