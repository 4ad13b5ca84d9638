"""Private words on their way into files, which appear when they are complete, with a manifest beside them."""

from pathveil.data.writing.drawing import gathered
from pathveil.data.writing.form import form_of_new
from pathveil.data.writing.manifest import (
    BeforeDrawing,
    Budget,
    file_guarantee,
    manifest_path,
    per_user,
    publish_with_manifest,
    user_guarantee,
    write_manifest,
)
from pathveil.data.writing.private_file import CuratorSummary, privatize_file
from pathveil.data.writing.publishing import earlier_kept, flush, is_out, publish, refuse_existing
from pathveil.data.writing.shuffle import dealt, in_order, random_order, take_rows
from pathveil.data.writing.table_writer import TableWriter

__all__ = [
    "BeforeDrawing",
    "Budget",
    "CuratorSummary",
    "TableWriter",
    "dealt",
    "earlier_kept",
    "file_guarantee",
    "flush",
    "form_of_new",
    "gathered",
    "in_order",
    "is_out",
    "manifest_path",
    "per_user",
    "privatize_file",
    "publish",
    "publish_with_manifest",
    "random_order",
    "refuse_existing",
    "take_rows",
    "user_guarantee",
    "write_manifest",
]
