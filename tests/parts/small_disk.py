"""Python code in a mount namespace of its own, in which a folder is a file system of 1 MiB."""

import os
import subprocess
import sys

import pytest

SCRIPT = 'mount -t tmpfs -o size=1m tmpfs "$1" || exit 77; shift; exec "$@"'


def with_small_disk(folder, code, *arguments, **environment):
    """Run code with the folder so small; return what it printed. The test is skipped where that cannot be."""
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    python = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(
        ["unshare", *user, "--mount", "sh", "-c", SCRIPT, "sh", str(folder), *python],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | environment,
    )
    if done.returncode in (1, 77):
        pytest.skip(f"no mount namespace here: {done.stderr}")
    assert done.returncode == 0, done
    return done.stdout
