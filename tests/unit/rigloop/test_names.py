"""The names that `import rigloop` exports: each is there, and nothing is imported before it is asked for."""

import subprocess
import sys

import pytest

import rigloop


def test_every_exported_name_is_there():
    errors = {"LiveRefusedError", "NotRunningError", "NotStartedError", "ServiceError"}
    named = {"Rig", "align", "mechanism", "observer", "open_run"}
    assert errors | named == set(rigloop.__all__)
    assert all(callable(getattr(rigloop, name)) for name in rigloop.__all__)
    assert set(rigloop.__all__) <= set(dir(rigloop))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'mechanisms'"):
        rigloop.mechanisms  # noqa: B018


def test_importing_the_package_or_its_plugin_imports_no_library():
    heavy = "numpy, pydantic, matplotlib, rich, typer, msgspec"
    code = (
        "import sys, rigloop, rigloop.testing.plugin; "
        f"print([name for name in '{heavy}'.split(', ') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_those_that_look_at_a_table_import_no_schema():
    code = (
        "import sys, io_bridge.recording.recorder, io_bridge.recording.telemetry; "
        "print([name for name in ('pydantic', 'rich', 'codegen', 'rigloop') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_help_imports_no_command():
    heavy = "numpy, pydantic, matplotlib, rigloop.rig_commands, rigloop.bench.commands"
    code = (
        "import sys; from typer.testing import CliRunner; from rigloop.cli import app; "
        "done = CliRunner().invoke(app, ['--help']); "
        f"print(done.exit_code, 'sim-segment' in done.output, [n for n in '{heavy}'.split(', ') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0 True []"
