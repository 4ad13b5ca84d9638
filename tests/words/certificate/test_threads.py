"""Proofs in several threads: one at a time, because all of them add to what is known about contexts."""

from __future__ import annotations

import threading
import time

import pytest

import pathveil as pv
from pathveil.words.certificate.certificate import ChainCertifier


def test_threads_that_ask_for_longer_runs_prove_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = pv.CertifiedExponential(pv.example_town(), 3.0, contexts=200).certificate(8)
    inside, most = 0, 0
    proof = ChainCertifier._searched

    def watched(self: ChainCertifier, *asked: object) -> object:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.01)  # long enough for another thread to come in, if it could
        try:
            return proof(self, *asked)  # type: ignore[arg-type]
        finally:
            inside -= 1

    monkeypatch.setattr(ChainCertifier, "_searched", watched)
    losses: dict[int, float] = {}
    threads = [
        threading.Thread(target=lambda d=distance: losses.__setitem__(d, certificate.loss_at(d)))
        for distance in (3, 2, 3, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert losses[2] <= losses[3]
    assert losses[2] == certificate.loss_at(2)
