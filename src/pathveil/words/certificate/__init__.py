"""How much the normaliser of the exponential mechanism can change between feasible words, proved in numbers."""

from pathveil.words.certificate.certificate import (
    Certificate,
    ChainCertifier,
    free_certificate,
    published_certificate,
    published_theta,
)
from pathveil.words.certificate.symbol_chain import SymbolChain

__all__ = [
    "Certificate",
    "ChainCertifier",
    "SymbolChain",
    "free_certificate",
    "published_certificate",
    "published_theta",
]
