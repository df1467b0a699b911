"""Tests that failed while the host took a processor away are repeated; the summary names each of them.

A test that fails while every processor was there has failed. `--no-repeats` takes every failure as it comes.
"""

import time
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from host_witness import HostWitness, worst_since

REPEATS = 2
KEY = "repeated"


class Repeating:
    """A plugin of pytest: of the process that hands tests out, and of those that run them.

    Parameters
    ----------
    seen : pathlib.Path
        The file in which the witness of the host writes.
    """

    def __init__(self, seen):
        self._seen = seen

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        """Tell a worker where the witness writes."""
        node.workerinput["stolen"] = str(self._seen)

    def pytest_runtest_protocol(self, item, nextitem):
        """Run a test; again if it failed and the host was seen to take a processor away meanwhile."""
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for left in reversed(range(REPEATS + 1)):
            began_s = time.monotonic()
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
            why = self._excuse(reports, began_s) if left else None
            if why is None:
                break
            item.user_properties.append((KEY, why))
            # what several tests share may be what failed: it is made again
            item.session._setupstate.teardown_exact(None)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _excuse(self, reports, began_s):
        failed = [report for report in reports if report.failed]
        stolen = worst_since(self._seen, began_s) if failed else None
        if stolen is None:
            return None
        crash = getattr(failed[0].longrepr, "reprcrash", None)
        said = str(failed[0].longrepr if crash is None else crash.message).strip()
        return f"{stolen}; {said.splitlines()[0]}"

    def pytest_terminal_summary(self, terminalreporter):
        """Name the tests that were repeated, and why."""
        told = {}
        for reports in terminalreporter.stats.values():
            for report in reports:
                for key, why in getattr(report, "user_properties", ()):
                    if key == KEY:
                        told.setdefault(report.nodeid, {})[why] = None
        if told:
            terminalreporter.section("tried again, for the host took a processor away")
        for nodeid, found in told.items():
            for why in found:
                terminalreporter.write_line(f"{nodeid}: {why}")


def add_option(parser):
    """Add the option that forbids repeats."""
    parser.addoption(
        "--no-repeats",
        action="store_true",
        help="a test that fails while the host takes a processor away is not tried again",
    )


def configure(config):
    """Watch the host from now on, unless that is done already or not wanted."""
    if config.getoption("--no-repeats") or config.getoption("--collect-only"):
        return
    told = getattr(config, "workerinput", {}).get("stolen")
    if told is None:
        seen = config._tmp_path_factory.mktemp("witness") / "stolen.jsonl"
        config.add_cleanup(HostWitness(seen).close)
    else:
        seen = Path(told)
    config.pluginmanager.register(Repeating(seen), "repeating")
