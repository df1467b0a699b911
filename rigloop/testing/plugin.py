"""The pytest plugin: a rig for a test, its run folder where the test failed, its plot and its facts in the report.

It is loaded in every session of pytest where the distribution is installed, so it imports nothing of it before a test
asks for a rig.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from rigloop.api.rig import Rig

VERDICTS = ("good", "bad", "any")
MARK = (
    'rig(name, *, seconds=None, inject=(), verdict="good", **start): the rig that the fixture `rig` starts for this '
    'test; faults on purpose; the verdict that its run must have, "any" for none; other options as those of Rig.start'
)
RIG, FAILED = pytest.StashKey["Rig"](), pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rigloop")
    group.addoption(
        "--rig-runs",
        default="runs",
        help="folder that gets the run folders of tests (default: runs)",
    )
    group.addoption(
        "--rig-keep", action="store_true", help="keep the run folders of tests that passed, too"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARK)


@pytest.fixture
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    """Start the rig of the test's mark `rig`, armed; stop it after the test, and require its verdict."""
    mark = request.node.get_closest_marker("rig")
    if mark is None or len(mark.args) != 1:
        raise pytest.UsageError(
            f'{request.node.nodeid}: which rig? mark the test: @pytest.mark.rig("steering_wheel")'
        )
    from rigloop.api.rig import Rig

    options = dict(mark.kwargs)
    faults, wanted = options.pop("inject", ()), options.pop("verdict", "good")
    if wanted not in VERDICTS:
        raise pytest.UsageError(
            f"{request.node.nodeid}: verdict = {wanted!r}: must be one of {', '.join(VERDICTS)}"
        )
    faults = (faults,) if isinstance(faults, str) else tuple(faults)
    options.setdefault("runs", request.config.rootpath / request.config.getoption("--rig-runs"))
    started = Rig(mark.args[0]).inject(*faults).start(**options)
    request.node.stash[RIG] = started
    try:
        yield started
    finally:
        outcome = started.stop()
        _say(request.node.user_properties.append, started)
    if wanted != "any" and outcome.good is not (wanted == "good"):
        reasons = "\n".join(outcome.reasons) or "nothing speaks against it"
        pytest.fail(f"the run is {'good' if outcome.good else 'bad'}: {reasons}", pytrace=False)


def _say(add: Callable[[tuple[str, object]], Any], rig: Rig) -> None:
    manifest = rig.record.manifest
    add(("rigloop.run", str(rig.folder)))
    add(("rigloop.rig", manifest.rig.name))
    add(("rigloop.rig_sha256", manifest.rig.sha256))
    add(("rigloop.verdict", manifest.verdict))
    add(("rigloop.duration_s", round(manifest.duration_s, 3)))
    for kernel in manifest.kernels:
        add((f"rigloop.kernel.{kernel.name}", kernel.sha256))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[None]:
    result = yield
    report: pytest.TestReport = result.get_result()  # type: ignore[attr-defined]
    started = item.stash.get(RIG, None)
    if started is None:
        return
    if report.failed:
        item.stash[FAILED] = True
        report.sections.append(
            ("rigloop", f"run folder: {started.folder}\nreport: {started.folder}/report.html")
        )
        _picture(item, call, report, started)
    is_kept = item.stash.get(FAILED, False) or item.config.getoption("--rig-keep")
    if report.when == "teardown" and not is_kept:
        shutil.rmtree(started.folder, ignore_errors=True)


def _picture(
    item: pytest.Item, call: pytest.CallInfo[Any], report: pytest.TestReport, rig: Rig
) -> None:
    from rigloop.testing.response import BandError

    if call.excinfo is None or not isinstance(call.excinfo.value, BandError):
        return
    from rigloop.testing.failure_plot import draw

    path = Path(rig.folder) / f"failed-{re.sub(r'[^A-Za-z0-9_.-]+', '_', item.name)[:80]}.png"
    try:
        draw(call.excinfo.value, path)
    except OSError as error:
        report.sections.append(("rigloop", f"{path}: cannot be written: {error.strerror}"))
        return
    item.user_properties.append(("rigloop.plot", str(path)))
    report.sections.append(("rigloop", f"the response and its band: {path}"))
