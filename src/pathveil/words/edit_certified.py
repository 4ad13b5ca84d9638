"""The exponential mechanism for edit distance, with a certified tilt."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from pathveil.privacy.units import Edits, Unit
from pathveil.words.base import checked_adjacency
from pathveil.words.edit import EditCertificate, edit_certificate, published_edit_certificate
from pathveil.words.edit_exponential import EditExponential


class CertifiedEditExponential(EditExponential):
    """`EditExponential` at the largest tilt whose loss among *feasible* words is certified to be at most ε.

    θ lies between the published ε/2b and ε/b; `certificate` justifies it. The gain is large where θ is large enough for
    a word to have few likely outputs, and none where it is not. The unit differs: another *feasible* word of allowed
    length within b insertions, deletions and substitutions. With `on_infeasible="nearest"` every word is accepted and
    gets the published tilt.

    >>> import pathveil as pv
    >>> town = pv.example_town()
    >>> certified = pv.CertifiedEditExponential(town, epsilon=6.0, lengths=(4, 10))
    >>> certified.theta() > 1.8 * pv.EditExponential(town, epsilon=6.0, lengths=(4, 10)).theta()
    True
    >>> certified.certificate.loss <= 6
    True
    """

    name = "exponential mechanism for edit distance (certified calibration)"

    @cached_property
    def certificate(self) -> EditCertificate:
        """The proof, in numbers, that words are released within ε."""
        if self.on_infeasible == "nearest":
            return published_edit_certificate(self.cap, self.epsilon, self.adjacency, "infeasible words are accepted")
        return edit_certificate(self._words, self.cap, self.epsilon, self.adjacency)

    def theta(self, length: int | None = None) -> float:  # noqa: ARG002 - the same for every length
        return self.certificate.theta

    def loss_at(self, distance: int, lengths: Iterable[int] | None = None) -> float:  # noqa: ARG002 - the same for all
        """θ for every edit, up to the cap, and once what the normaliser can change between any two feasible words."""
        return self.certificate.loss_at(min(checked_adjacency(distance, "distance"), self.cap))

    @property
    def _protects(self) -> Unit:
        return Edits(self.adjacency, *self.lengths, feasible=self.on_infeasible == "refuse")

    @property
    def _unit(self) -> str:
        return super()._unit if self.on_infeasible == "nearest" else f"{super()._unit}, both words feasible"
