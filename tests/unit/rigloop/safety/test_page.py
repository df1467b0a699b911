"""`docs/safety.md` is what is printed, and has every hazard and every fault."""

from pathlib import Path

from rig_configs.hazards import HAZARDS
from rigloop.inject.faults import FAULTS
from rigloop.safety.page import page

PAGE = Path(__file__).parents[4] / "docs" / "safety.md"


def test_the_page_is_what_is_printed():
    assert PAGE.read_text() == page(), "run `python -m rigloop.safety.page > docs/safety.md`"


def test_the_page_says_what_a_reader_at_the_bench_must_know():
    text = " ".join(PAGE.read_text().split())
    for words in (
        "rigloop commission", "hangs inside its bus exchange", "`torque_delay_ms`", "INCOMPLETE",
        "after `cycle-kill`, `link-down`, `cable-pull`", "0.2 + 0 ms in `steering_wheel`",
    ):  # fmt: skip
        assert words in text, words


def test_the_page_has_every_hazard_and_every_fault():
    text = PAGE.read_text()
    assert not [hazard.name for hazard in HAZARDS if f"| {hazard.title} |" not in text]
    assert not [name for name in FAULTS if f"| `{name}` |" not in text]
