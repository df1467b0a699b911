"""Options and fixtures of the whole suite."""

import gc
import os
from collections import Counter

import pytest
import repeated
import scripted_slave

from rig_configs.load import find_rig

# processes that tests start import what is installed, not the checkout that pytest runs in
os.environ["PYTHONSAFEPATH"] = "1"
# small matrices: threads of the linear algebra library would only fight for the cores
os.environ.setdefault("OMP_NUM_THREADS", "1")


ALONE = "tests/integration/alone/"
LIVE = "tests/integration/"
OFFLINE = "tests/integration/offline/"
COLLECT_AFTER = 50_000  # objects, as `rigloop` itself has it


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    """With `-n auto`: one process more than processors, for much of the time live tests wait."""
    return len(os.sched_getaffinity(0)) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With `-n`: a file stays together, and what needs to be alone stays in one process.

    Two live loops beside each other make each other late. Tests of times lie in tests/integration/alone; they come
    first, while other processes have what starts no loop. Live tests that bear a busy machine come last, side by side.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            path = nodeid.split("::", 1)[0]
            return ALONE if path.startswith(ALONE) else path

    config.option.loadscopereorder = False  # the order is that of the collection, see below
    return ByFile(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """With `-n`: what must be alone first, then files with many slow tests, then what is live beside other tests."""
    if not hasattr(config, "workerinput"):
        return
    slow = Counter(
        item.nodeid.split("::", 1)[0] for item in items if item.get_closest_marker("slow")
    )

    def place(item):
        path = item.nodeid.split("::", 1)[0]
        is_beside = path.startswith(LIVE) and not path.startswith((ALONE, OFFLINE))
        return not path.startswith(ALONE), is_beside, -slow[path]

    items.sort(key=place)


def pytest_collection_finish():
    """Tests and their modules stay: the garbage collector need not look at millions of objects again and again."""
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)


@pytest.hookimpl(trylast=True)
def pytest_configure(config):
    """Let tests be tried again that failed while the host took a processor away."""
    repeated.configure(config)


def pytest_addoption(parser):
    repeated.add_option(parser)
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden")
    parser.addoption(
        "--every-strange-file",
        action="store_true",
        help="try each with each command, not every third",
    )


@pytest.fixture
def update_golden(request):
    """Whether goldens are to be rewritten instead of compared."""
    return request.config.getoption("--update-golden")


@pytest.fixture
def bad_rig(tmp_path):
    """Write the steering rig with wrong lines in it."""

    def write(changes):
        text = find_rig("steering_wheel").read_text()
        for old, new in changes.items():
            assert old in text
            text = text.replace(old, new, 1)
        path = tmp_path / "bad.toml"
        path.write_text(text)
        return path

    return write


@pytest.fixture(scope="session")
def scripted():
    """Give the slave whose mailbox says what a test wants, and the messages it may say."""
    return scripted_slave
