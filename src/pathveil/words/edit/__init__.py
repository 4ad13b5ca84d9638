"""Mechanisms whose distance is the edit distance: what they share, their classes, and their certificate."""

from pathveil.words.edit.certificate import EditCertificate, edit_certificate, published_edit_certificate
from pathveil.words.edit.classes import EditClasses, edit_classes
from pathveil.words.edit.distances import distances_from, edit_distances
from pathveil.words.edit.effort import EditEffort, EditEfforts
from pathveil.words.edit.length_range import LengthRange, checked_cap, checked_range, require_length
from pathveil.words.edit.mechanism import EditLaw, EditMechanism

__all__ = [
    "EditCertificate",
    "EditClasses",
    "EditEffort",
    "EditEfforts",
    "EditLaw",
    "EditMechanism",
    "LengthRange",
    "checked_cap",
    "checked_range",
    "distances_from",
    "edit_certificate",
    "edit_classes",
    "edit_distances",
    "published_edit_certificate",
    "require_length",
]
