"""Models of threads and processes beside each other, searched whole by Spin; the sources say which orders hold.

`spin/memory.pml` is the model of reordering: stores reach memory late and in any order that the source does not rule
out; loads may come before others where no acquire stands between. `reach.pml` steps the guard's own C.
"""

from __future__ import annotations

import math
import re
import resource
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tools import Answer

ROOT = Path(__file__).parents[2]
BESIDE_OTHERS = 10  # a search may last so many times longer than it computes
MODELS = Path(__file__).with_name("spin")
SHARED, TABLE, CYCLE = (
    "rt_core/shared.pxd",
    "rt_core/signals/table.pyx",
    "io_bridge/exchange/cycle.pyx",
)


class Order(NamedTuple):
    """A macro of a model: 1 where this pattern is found in a function of a source, else 0."""

    macro: str
    source: str
    function: str
    pattern: str


class Model(NamedTuple):
    """A model with the macros that stand for its source, and what is asserted of it."""

    name: str
    file: str
    words: str
    orders: tuple[Order, ...] = ()
    macros: tuple[str, ...] = ()
    forever: bool = False  # a property of endless runs


SEQLOCK = (
    Order("FENCE_RELEASE", SHARED, "publish_latest", r"\n    fence_release\(\)\n    for .*\n +store_relaxed\(slot"),
    Order("STORE_RELEASE", SHARED, "publish_latest", r"\n    store_release\(latest, s\)\n"),
    Order("LOAD_ACQUIRE", SHARED, "read_latest", r"\n        s = load_acquire\(latest\)\n"),
    Order("FENCE_ACQUIRE", SHARED, "read_latest", r"load_relaxed\(slot \+ pick\[i\]\)\n        fence_acquire\(\)\n"),
    Order("LOOK_AGAIN", SHARED, "read_latest", r"\n        if load_relaxed\(latest\) == s:\n            return s\n"),
)  # fmt: skip
RING = (
    Order("STORE_RELEASE", SHARED, "push_ring", r"= image\[i\]\n    store_release\(ring \+ WRITTEN, written \+ 1\)\n"),
    Order("LOAD_ACQUIRE", TABLE, "peek", r"load_acquire\(ring \+ WRITTEN\) - consumed\n"),
    Order("CONSUME_RELEASE", TABLE, "advance", r"\n        store_release\(ring \+ CONSUMED, consumed \+ n\)\n"),
    Order("CHECKS_FULL", SHARED, "push_ring", r"\(written - load_acquire\(ring \+ CONSUMED\)\) >= <uint64_t>slots:\n"),
)  # fmt: skip
HAND_OVER = (
    Order("CYCLE_TAKES", CYCLE, "exchange_step",
          r"\n    holder = holder_or_take\(&x\.owner, CYCLE\)\n    if holder:\n        return miss\(x, holder\)\n"),
    Order("TAKE_ACQUIRE", CYCLE, "holder_or_take", r"_exchange_n\(owner, &holder, who, 0, __ATOMIC_ACQ(_REL|UIRE),"),
    Order("RELEASES", CYCLE, "release", r"__atomic_store_n\(owner, 0, __ATOMIC_RELEASE\)"),
    Order("WATCHDOG_TAKES", CYCLE, "exchange_safe", r"WATCHDOG\) and not take\(&x\.owner, WATCHDOG\)\):\n"),
    Order("KEEPS", CYCLE, "exchange_safe", r"\A(?!.*release\()"),
)  # fmt: skip
MODELS_OF = (
    Model("shared: latest", "seqlock.pml", "an image taken for number s is that of s, in every word", SEQLOCK),
    Model("shared: ring", "ring.pml", "rows come out as they were put in; produced = written + dropped", RING),
    Model("watchdog: hand-over", "hand_over.pml", "no torque leaves after safe outputs", HAND_OVER),
    *(
        Model(f"reach: {name}, {n} guards", "reach.pml",
              "a reached guard is not driven on, and no other is taken along",
              macros=(f"N={n}", f"REACH={number}", "FOREVER=0"))
        for name, number, n in (("axis", 0, 2), ("axis", 0, 3), ("group", 1, 3), ("all", 2, 2), ("all", 2, 3))
    ),
    *(
        Model(f"reach: released, {n} guards", "reach.pml", "no guards hold each other in FAULT",
              macros=(f"N={n}", "REACH=2", "FOREVER=1"), forever=True)
        for n in (2, 3)
    ),
)  # fmt: skip


def function_of(text: str, name: str) -> str:
    """Return a function of a source, from its name to the next one at its depth."""
    begin = re.search(rf"^( *)(?:cdef |cpdef |def |static )[^\n]*\b{name}\(", text, re.MULTILINE)
    if begin is None:
        return ""
    body = text[begin.start() :]
    following = re.compile(rf"^ {{0,{len(begin[1])}}}(?:cdef |cpdef |def |static |@)", re.MULTILINE)
    end = following.search(body, begin.end() - begin.start())
    return body[: end.start()] if end else body


def macros_of(model: Model, changed: Mapping[str, str]) -> list[str]:
    """Return the macros of a model, as the sources (or these texts in place of them) say."""
    found = list(model.macros)
    for order in model.orders:
        text = changed.get(order.source) or (ROOT / order.source).read_text(encoding="utf-8")
        there = re.search(order.pattern, function_of(text, order.function), re.DOTALL)
        found.append(f"{order.macro}={int(bool(there))}")
    return found


def search(
    model: Model, changed: Mapping[str, str] | None = None, longest_s: float = 120.0
) -> Answer:
    """Search all states of a model; false means that Spin has found a run that breaks it."""
    begin = time.monotonic()

    def answer(outcome: str, said: str) -> Answer:
        return Answer(model.name, "spin", outcome, time.monotonic() - begin, said)

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for command in _written(model, changed or {}, place):
            done = subprocess.run(command, cwd=place, capture_output=True, text=True)
            if done.returncode:
                return answer("open", (done.stdout + done.stderr)[:400])
        limit = math.ceil(longest_s)
        try:
            done = subprocess.run(
                ["./pan", "-m2000000", *(["-a", "-f"] if model.forever else ["-E"])],
                cwd=place,
                capture_output=True,
                text=True,
                timeout=BESIDE_OTHERS * longest_s,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
            )
        except subprocess.TimeoutExpired:
            return answer("open", "out of time")
    if done.returncode < 0:
        return answer("open", "out of processor time")
    said = done.stdout + done.stderr
    errors = re.search(r"errors: (\d+)", said)
    if errors and int(errors[1]):
        wrong = re.search(r"pan:\d+: (.*)", said)
        return answer("false", wrong[1] if wrong else "")
    if not errors or "Search not completed" in said or "max search depth too small" in said:
        return answer("open", said[:400])
    states = re.search(r"(\d+) states, stored", said)
    return answer("proved", f"{states[1]} states" if states else "")


def _written(model: Model, changed: Mapping[str, str], place: Path) -> list[list[str]]:
    """Write models and changed sources into a folder; return the commands that build the search."""
    for path in MODELS.glob("*.pml"):
        (place / path.name).write_text(path.read_text())
    for name, text in changed.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    macros = [f"-D{macro}" for macro in macros_of(model, changed)]
    flags = [
        "-O2",
        "-w",
        f"-I{place}",
        f"-I{ROOT}",
        "-DVECTORSZ=2048",
        "-DNFAIR=3",
        "-DMEMLIM=2048",
    ]
    flags += [] if model.forever else ["-DSAFETY"]
    return [["spin", *macros, "-a", model.file], ["gcc", *flags, "-o", "pan", "pan.c", "-lm"]]
