"""The generated steering kernel, line by line; `--update-golden` rewrites it."""

import re
from pathlib import Path

from codegen.generate import generate
from codegen.options import KernelOptions

GOLDEN = Path(__file__).parents[2] / "golden" / "steering_26"


def test_generated_texts_are_the_golden_ones(update_golden):
    made = generate("steering_26", KernelOptions())
    for name, text in (("kernel.pyx", made.kernel), ("reference.py.txt", made.reference)):
        if update_golden:
            (GOLDEN / name).write_text(text)
        assert text == (GOLDEN / name).read_text(), "run pytest --update-golden and read the diff"


def test_generation_is_reproducible_and_names_no_place_or_day():
    made, again = (generate("steering_26", KernelOptions()) for _ in range(2))
    assert made == again
    assert not re.search(r"/home|/tmp|/root|20\d\d-\d\d", made.kernel)


def test_the_step_stays_within_its_operation_budget():
    head = generate("steering_26", KernelOptions()).kernel[:2000]
    slots = int(re.search(r"one step: (\d+) floating-point slots", head).group(1))
    assert slots <= 5600
