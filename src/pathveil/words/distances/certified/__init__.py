"""Certified tilts with distances: what one changed symbol can lose, proved in numbers."""

from pathveil.words.distances.certified.certificate import DistanceCertificate, distance_certificate

__all__ = ["DistanceCertificate", "distance_certificate"]
