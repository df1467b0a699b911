"""What an interrupted command says of how far it had come, and the end of its input as an interruption."""

import signal
import subprocess
import sys

import pytest

from rigloop.console import interrupts


@pytest.fixture(autouse=True)
def afresh():
    # another test of this process may have run a command
    interrupts.say("")
    yield
    interrupts.say("")


def test_a_command_that_arms_nothing_does_not_speak_of_arming():
    assert interrupts.line(interrupts.Interrupted("SIGINT")) == "interrupted (SIGINT)"


def test_a_run_says_so_until_it_collects_signals():
    interrupts.say("before anything was armed")
    said = interrupts.line(interrupts.Interrupted("SIGTERM"))
    assert said == "interrupted (SIGTERM) before anything was armed"
    with interrupts.collected():
        pass
    assert interrupts.line(interrupts.Interrupted("SIGTERM")) == "interrupted (SIGTERM)"


WAITS = """
import time
from rigloop.console import interrupts
interrupts.arm()
try:
    interrupts.interrupt_at_eof()
    with interrupts.collected() as caught:
        end = time.monotonic() + 30.0
        while not caught and time.monotonic() < end:
            time.sleep(0.01)
    print("collected", len(caught))
except interrupts.Interrupted:
    print("collected", 1)
"""


@pytest.mark.parametrize(
    "ignored", [(), (signal.SIGINT,), (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
)
def test_the_end_of_its_input_interrupts_also_what_was_started_in_the_background(ignored):
    def ignore():
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)

    ended = subprocess.run(
        [sys.executable, "-P", "-c", WAITS],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        preexec_fn=ignore,
        timeout=60,
        check=True,
    )
    assert ended.stdout == "collected 1\n", ended.stderr
