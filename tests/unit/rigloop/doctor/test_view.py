import io

import pytest
from rich.console import Console

from rigloop.doctor.view import as_message, show
from rt_core.doctor.check import Check, Level

LONG = (
    "echo '"
    + "isolcpus=managed_irq,domain,1 " * 8
    + "' | sudo tee -a /etc/default/grub.d/realtime.cfg"
)
CHECKS = [
    Check(
        "fifo priority", Level.RED, "refused [errno 1]", "others come first", f"{LONG}\nsecond line"
    ),
    Check(
        "swap",
        Level.AMBER,
        "on: " + ", ".join(f"/dev/disk{i}" for i in range(30)),
        "paged out",
        "swapoff -a",
    ),
    Check("clock source", Level.GREEN, "tsc", "slow"),
]


def printed(width):
    file = io.StringIO()
    show(CHECKS, Console(file=file, width=width))
    return file.getvalue()


@pytest.mark.parametrize("width", [40, 80, 120])
def test_remedies_are_whole_lines_at_any_width(width):
    lines = [line.strip() for line in printed(width).splitlines()]
    assert LONG in lines
    assert "second line" in lines
    assert "swapoff -a" in lines


@pytest.mark.parametrize("width", [80, 120])
def test_what_was_found_is_folded_and_not_cut(width):
    text = printed(width)
    assert "…" not in text
    joined = "".join(text.split())
    assert "/dev/disk0,/dev/disk1," in joined
    assert "/dev/disk29" in joined
    assert "refused [errno 1]" in text


def test_levels_come_in_order_and_are_counted():
    text = printed(100)
    assert text.index("fifo priority") < text.index("swap") < text.index("clock source")
    assert "1 red, 1 amber, 1 green" in text


def test_green_checks_have_no_remedy_block():
    assert "slow" not in printed(100)


def test_the_message_has_the_same_checks():
    message = as_message(CHECKS, "rig", None)
    assert message["checks"] == CHECKS
    assert (message["good"], message["banner"]) == (False, "degraded: fifo priority")
