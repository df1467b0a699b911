"""What an interrupted command says of how far it had come."""

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


WATCHED = """
import time
from rigloop.console import interrupts
interrupts.arm()
interrupts.interrupt_at_eof()
try:
    with interrupts.collected() as caught:
        print("ready", flush=True)
        while not caught:
            time.sleep(0.01)
    print(caught)
except interrupts.Interrupted as interrupted:
    print("early", interrupted)
"""


@pytest.mark.parametrize("ignored", [(), (signal.SIGINT,), interrupts.SIGNALS])
def test_the_end_of_the_input_interrupts_whatever_the_shell_has_ignored(ignored):
    # a script that starts a service in its background leaves SIGINT ignored, and nohup SIGHUP
    before = {number: signal.signal(number, signal.SIG_IGN) for number in ignored}
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", WATCHED], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    try:
        assert process.stdout.readline() == b"ready\n"
        said, _ = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert said.decode() == f"[{int(signal.SIGINT)}]\n"
