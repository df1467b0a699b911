"""The load beside a measurement: nothing, ordinary processes, or stress-ng."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator

GARBAGE = """
import gc
while True:
    kept = [[i] for i in range(200_000)]
    gc.collect()
"""
MESSAGES = """
import sys, time, zmq
context = zmq.Context()
pub, sub = context.socket(zmq.PUB), context.socket(zmq.SUB)
port = pub.bind_to_random_port("tcp://127.0.0.1")
sub.setsockopt(zmq.SUBSCRIBE, b"")
sub.connect(f"tcp://127.0.0.1:{port}")
while True:
    pub.send(bytes(256))
    while sub.poll(0):
        sub.recv()
    time.sleep(0.001)
"""
STRESS = "stress-ng --cpu 1 --vm 1 --vm-bytes 64M --sock 1 --hdd 1 --hdd-bytes 32M --quiet"
SETTLE_S = 1.0


def missing(load: str) -> str:
    """Return what a load lacks on this machine, empty if nothing."""
    if load == "stress-ng" and shutil.which("stress-ng") is None:
        return "stress-ng is not installed: sudo apt install stress-ng"
    return ""


@contextlib.contextmanager
def load(name: str) -> Iterator[None]:
    """Keep the machine busy; `name` is `quiet`, `busy` or `stress-ng`."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as started:
        commands = {
            "quiet": [],
            "busy": [[sys.executable, "-c", code] for code in (GARBAGE, MESSAGES)],
            "stress-ng": [[*STRESS.split(), "--temp-path", folder]],
        }[name]
        for command in commands:
            started.enter_context(_process(command))
        if commands:
            time.sleep(SETTLE_S)
        yield


@contextlib.contextmanager
def _process(command: list[str]) -> Iterator[None]:
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
        if child.poll() is not None:
            raise RuntimeError(f"{command[0]} ended early, with {child.returncode}")
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            # its session: what it started goes with it
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(2)


@contextlib.contextmanager
def beside(work: Callable[[Callable[[], bool]], object]) -> Iterator[None]:
    """Run `work` in a thread of this process; it is given a function that tells when to end."""
    over = threading.Event()
    thread = threading.Thread(target=work, args=(over.is_set,))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def hold_lock(is_over: Callable[[], bool]) -> None:
    """Hold the interpreter's lock nearly always, for up to 50 ms without a break."""
    while not is_over():
        sum(range(1_000_000))
