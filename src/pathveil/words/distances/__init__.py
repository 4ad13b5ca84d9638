"""Distances between symbols: costs for errors, and symbols that are moved by at most so far. (docs/distances.md)"""

from pathveil.words.distances.certified import DistanceCertificate, distance_certificate
from pathveil.words.distances.flip import flip_log_probabilities, flip_priced
from pathveil.words.distances.flip_law import FlipMixture
from pathveil.words.distances.laws import DistanceLaw, marginals, wrong_symbols
from pathveil.words.distances.mechanism import DISTANCES_ARE_PUBLIC, DistanceMechanism, TiltedDistances
from pathveil.words.distances.online import (
    OnlineDraw,
    online_log_probabilities,
    online_theta,
    online_transitions,
)

__all__ = [
    "DISTANCES_ARE_PUBLIC",
    "DistanceCertificate",
    "DistanceLaw",
    "DistanceMechanism",
    "FlipMixture",
    "OnlineDraw",
    "TiltedDistances",
    "distance_certificate",
    "flip_log_probabilities",
    "flip_priced",
    "marginals",
    "online_log_probabilities",
    "online_theta",
    "online_transitions",
    "wrong_symbols",
]
