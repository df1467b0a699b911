"""The application: command line, composition root, reports, and the names that a program imports.

Start with `cli.py`; a live run is `live/supervise.py`, what it runs is put together in `compose/blocks.py`. The names
below are of `api/` and what it raises; each is imported when it is first asked for, so that `import rigloop` takes no
time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rigloop.api.align import align
    from rigloop.api.mechanism import mechanism
    from rigloop.api.observer import observer
    from rigloop.api.recorded_run import open_run
    from rigloop.api.rig import NotRunningError, Rig
    from rigloop.live_values.refused import LiveRefusedError
    from rigloop.protocol.client import ServiceError
    from rigloop.run_folder.not_started import NotStartedError

__all__ = [
    "LiveRefusedError",
    "NotRunningError",
    "NotStartedError",
    "Rig",
    "ServiceError",
    "align",
    "mechanism",
    "observer",
    "open_run",
]

_HOMES = {
    "LiveRefusedError": "rigloop.live_values.refused",
    "NotRunningError": "rigloop.api.rig",
    "NotStartedError": "rigloop.run_folder.not_started",
    "ServiceError": "rigloop.protocol.client",
    "Rig": "rigloop.api.rig",
    "align": "rigloop.api.align",
    "mechanism": "rigloop.api.mechanism",
    "observer": "rigloop.api.observer",
    "open_run": "rigloop.api.recorded_run",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
