"""How much the normaliser of the exponential mechanism can change between feasible words, proved in numbers."""

from pathveil.words.certificate.certificate import (
    Certificate,
    ChainCertifier,
    free_certificate,
    published_certificate,
    published_theta,
)

__all__ = [
    "Certificate",
    "ChainCertifier",
    "free_certificate",
    "published_certificate",
    "published_theta",
]
