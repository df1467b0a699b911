"""The generated steering kernel, line by line; `--update-golden` rewrites it."""

import re
from pathlib import Path

import pytest

from codegen.kernels.generate import generate
from codegen.options.options import KernelOptions

GOLDEN = Path(__file__).parents[3] / "golden" / "steering_26"


def test_generated_texts_are_the_golden_ones(update_golden):
    made = generate("steering_26", KernelOptions())
    texts = made.files | {"reference.py.txt": made.reference}
    for name, text in texts.items():
        if update_golden:
            (GOLDEN / name).write_text(text)
        assert text == (GOLDEN / name).read_text(), "run pytest --update-golden and read the diff"


def test_generation_is_reproducible_and_names_no_place_or_day():
    made, again = (generate("steering_26", KernelOptions()) for _ in range(2))
    assert made == again
    assert not re.search(r"/home|/tmp|/root|20\d\d-\d\d", "".join(made.files.values()))


@pytest.mark.parametrize(("presolve", "slots", "path"), [(True, 3010, 820), (False, 4500, 1200)])
def test_the_step_stays_within_its_operation_budget(presolve, slots, path):
    head = generate("steering_26", KernelOptions(presolve=presolve)).files["kernel.h"][:2000]
    found = re.search(r"one step: (\d+) floating-point slots .*path (\d+) cycles", head)
    assert int(found.group(1)) <= slots
    assert int(found.group(2)) <= path
