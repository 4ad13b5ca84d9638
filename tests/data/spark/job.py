"""A Spark job in a process of its own, whose tasks write down what they draw and wait where they are told to.

    python job.py KIND MASTER INPUT OUTPUT OBSERVED EVENTS SEED

Every draw leaves a file in OBSERVED that tells what was drawn from what, in which attempt: what somebody would see who
could look at every task. The second draw of an attempt waits until there is a file OBSERVED/go. KIND is "files" or
"dataframe", the two ways to run a job.
"""

import hashlib
import os
import sys
import time
from pathlib import Path

import numpy as np
from pyspark.sql import SparkSession

import pathveil as pv
from pathveil import data
from pathveil.data import spark as on_spark

PATIENCE = 300.0


class Watched(pv.CertifiedExponential):
    """Draws like its parent, and tells."""

    observed: str
    drawn = 0

    def _draw(self, words, source):
        if self.drawn:
            self._wait()
        private = super()._draw(words, source)
        self.drawn += 1
        names = [hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest() for a in (words.values, private)]
        path = Path(self.observed, f"draw-{os.getpid()}-{time.monotonic_ns()}")
        path.with_suffix(".new").write_text(f"{os.getcwd()} {names[0]} {names[1]}")
        path.with_suffix(".new").rename(path)
        return private

    def _wait(self):
        begin = time.monotonic()
        while not Path(self.observed, "go").exists():
            if time.monotonic() - begin > PATIENCE:
                raise TimeoutError("nobody said go")
            time.sleep(0.05)


def main(kind: str, master: str, source: str, output: str, observed: str, events: str, seed: str) -> None:
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": Path(events).as_uri(),
        # A secret in a compressed file would be hard to find.
        "spark.eventLog.compress": "false",
        "spark.broadcast.compress": "false",
        "spark.shuffle.compress": "false",
        "spark.shuffle.spill.compress": "false",
        # Files of a worker that is gone will not come back.
        "spark.shuffle.io.maxRetries": "1",
        "spark.shuffle.io.retryWait": "100ms",
        "spark.executor.extraJavaOptions": os.environ["SPARK_SUBMIT_OPTS"],
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.adaptive.enabled": "false",  # four tasks, two at a time
    }
    session = SparkSession.builder.master(master).config(map=settings).getOrCreate()
    mechanism = Watched(pv.Alphabet("abcd"), epsilon=1.0)
    mechanism.observed = observed
    draws = pv.insecure_seed(int(seed))
    if kind == "files":
        layout = data.ListColumn("word")
        on_spark.privatize_files(session, source, layout, mechanism, output, keep=["id"], rng=draws)
    else:
        on_spark.privatize_to(session.read.parquet(source), mechanism, output, "word", keep=["id"], rng=draws)
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
