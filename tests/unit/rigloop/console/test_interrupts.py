"""What an interrupted command says of how far it had come."""

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
