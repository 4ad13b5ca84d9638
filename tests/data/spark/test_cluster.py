"""A real cluster on this machine: one master, two workers, one of which dies in the middle of a job."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pyspark
import pytest

import pathveil as pv
from pathveil.randomness.derived import DerivingKey
from tests.data.spark.frames import needs_java, write_words

pytestmark = [pytest.mark.spark, needs_java]

LAUNCHER = Path(pyspark.__file__).parent / "bin" / "spark-class"
JOB = Path(__file__).with_name("job.py")
SEED = 20_190
PATIENCE = 300.0  # seconds; a machine that does other things as well may be slow


class Cluster:
    """Processes of our own, each in a group of its own, so that a machine can be switched off as a whole."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]

    @property
    def url(self) -> str:
        return f"spark://127.0.0.1:{self._port}"

    def start(self) -> None:
        self.run("master", "org.apache.spark.deploy.master.Master", "--port", str(self._port), "--webui-port", "0")
        wait_for(lambda: "Starting Spark master" in self.log("master") and self._answers(), "the master")
        for name in ("one", "two"):
            memory = ["--cores", "1", "--memory", "600m", "--webui-port", "0"]
            place = ["--work-dir", str(self.folder / name)]
            self.run(name, "org.apache.spark.deploy.worker.Worker", *memory, *place, self.url)
        for name in ("one", "two"):
            wait_for(lambda name=name: "registered with master" in self.log(name), f"worker {name}")

    def run(self, name: str, kind: str, *arguments: str) -> None:
        command = [str(LAUNCHER), kind, "--host", "127.0.0.1", *arguments]
        surroundings = environment(self.folder) | {
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_DAEMON_JAVA_OPTS": os.environ["SPARK_SUBMIT_OPTS"],
        }
        with open(self.folder / f"{name}.log", "wb") as log:
            self._processes[name] = subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True, env=surroundings
            )

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def _answers(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1):
            return True
        return False

    def kill(self, name: str) -> None:
        process = self._processes.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for name in list(self._processes):
            self.kill(name)


def environment(folder: Path) -> dict[str, str]:
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    own = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_DIRS": str(scratch)}
    return {**os.environ, **own, "TMPDIR": str(scratch)}


def wait_for(happened: Callable[[], bool], what: str) -> None:
    begin = time.monotonic()
    while not happened():
        assert time.monotonic() - begin < PATIENCE, f"waited in vain for {what}"
        time.sleep(0.05)


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


class Running:
    """A job in a process of its own."""

    def __init__(self, cluster: Cluster, kind: str, master: str) -> None:
        self.folder = cluster.folder / f"job-{master.partition(':')[0]}"
        self.observed, self.events = self.folder / "observed", self.folder / "events"
        for folder in (self.folder, self.observed, self.events):
            folder.mkdir()
        draws = pv.insecure_seed(1)
        words = [list(pv.Alphabet("abcd").random_word(4 + 4 * (i % 3), draws)) for i in range(400)]
        source = write_words(self.folder.parent / "words.parquet", words)
        self.output = self.folder / "private"
        arguments = [kind, master, source, self.output, self.observed, self.events, SEED]
        with open(self.folder / "driver.log", "wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(JOB), *map(str, arguments)],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment(cluster.folder),
            )

    def draws(self) -> list[list[str]]:
        """For each draw: where the task was at work, what went in, what came out."""
        return [path.read_text().split() for path in self.observed.glob("draw-*") if not path.suffix]

    def go(self) -> None:
        (self.observed / "go").touch()

    def finish(self) -> dict[int, list[str]]:
        code = self.process.wait(PATIENCE)
        assert code == 0, (self.folder / "driver.log").read_text()[-3000:]
        table = pq.read_table(self.output)
        assert table.num_rows == 400
        return dict(zip(table["id"].to_pylist(), table["word"].to_pylist(), strict=True))

    def said(self) -> list[dict[str, object]]:
        """Spark's own record of what happened."""
        lines = [line for path in self.events.rglob("*") if path.is_file() for line in path.read_text().splitlines()]
        return [json.loads(line) for line in lines if line.startswith("{")]


def forms(secret: bytes) -> list[bytes]:
    """How a secret may be written: as it is, in hexadecimal, in base 64 at any offset."""
    shifted = [base64.b64encode(b"\0" * shift + secret)[4:-4] for shift in range(3)]
    return [secret, secret.hex().encode(), secret.hex().upper().encode(), *shifted]


def files_with(secret: bytes, folder: Path) -> list[Path]:
    found = []
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # Spark removes some of its files meanwhile
            if path.is_file() and any(form in path.read_bytes() for form in forms(secret)):
                found.append(path)
    return found


@pytest.mark.parametrize("kind", ["files", "dataframe"])
def test_a_worker_that_dies_in_the_middle_changes_no_word_and_no_file_holds_the_key(
    cluster: Cluster, kind: str
) -> None:
    undisturbed = Running(cluster, kind, "local[2]")
    undisturbed.go()
    expected = undisturbed.finish()

    disturbed = Running(cluster, kind, cluster.url)
    wait_for(lambda: len(disturbed.draws()) >= 2 or disturbed.process.poll() is not None, "the first draws")
    assert disturbed.process.poll() is None, (disturbed.folder / "driver.log").read_text()[-3000:]
    secret = pv.insecure_seed(SEED).bytes(32)
    assert files_with(secret, cluster.folder) == []  # while all processes are at work
    victim = next(name for name in ("one", "two") if str(cluster.folder / name) in disturbed.draws()[0][0])
    cluster.kill(victim)
    disturbed.go()
    assert disturbed.finish() == expected

    # The worker's work was really lost, and done again.
    events = disturbed.said()
    assert any(event["Event"] == "SparkListenerExecutorRemoved" for event in events)
    ends = [event for event in events if event["Event"] == "SparkListenerTaskEnd"]
    reasons = {str(event["Task End Reason"]["Reason"]) for event in ends}
    assert reasons & {"ExecutorLostFailure", "FetchFailed", "Resubmitted"}
    outputs: dict[str, list[str]] = defaultdict(list)
    for _, word, private in disturbed.draws():
        outputs[word].append(private)
    assert any(len(seen) > 1 for seen in outputs.values())
    # What the lost attempt had drawn is what the next one drew. (With fresh randomness: one of 4^20 and more.)
    assert all(len(set(seen)) == 1 for seen in outputs.values())

    assert files_with(secret, cluster.folder) == []
    key, source = DerivingKey(pv.insecure_seed(SEED)), cluster.folder / "words.parquet"
    for derived in (key.key("place in", f"file:{source}"), key.key("words of", str(source), 0)):
        assert files_with(derived, cluster.folder) == []
    text = "".join(path.read_text(errors="replace") for path in cluster.folder.rglob("*.log"))
    assert "DerivingKey" not in text
    (cluster.folder / "planted").write_bytes(b"1234567" + base64.b64encode(b"x" + secret + b"yz"))
    assert files_with(secret, cluster.folder) == [cluster.folder / "planted"]  # the search finds what is there
