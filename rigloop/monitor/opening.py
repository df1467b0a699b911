"""The source that an argument of `rigloop monitor` names: a service, a rig file, a run folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from io_bridge.doorway.local_socket import services
from rig_configs.mistakes import ConfigError
from rig_configs.plain import file_name
from rigloop.fieldbus.running import tables
from rigloop.monitor.layouts import layout_file
from rigloop.monitor.sources.recorded_source import RecordedSource
from rigloop.monitor.sources.service_source import ServiceSource
from rigloop.monitor.sources.source import Source, SourceGoneError
from rigloop.protocol.client import ServiceError
from rigloop.protocol.description import ToDescribe
from rigloop.run_folder.manifest import MANIFEST, ManifestError
from rt_core.signals.layout import TableError, run_of
from rt_core.signals.table import SignalTable


@dataclass(frozen=True)
class Target:
    """The thing that a page looks at.

    Attributes
    ----------
    name : str
        For people.
    open : callable
        It returns a source of its own for each page.
    beside : Path or None
        The rig file, where the layout belongs beside it.
    is_here : bool
        It runs on this machine, if it runs.
    """

    name: str
    open: Callable[[], Source]
    beside: Path | None = None
    is_here: bool = True

    def layout(self, of: ToDescribe) -> Path:
        """Return the file of the layout."""
        return layout_file(of.rig, self.beside)


def target_of(argument: str, rig: str = "", key: str = "") -> Target:
    """Return what an argument names; without one the only service, else the newest run that goes on.

    Parameters
    ----------
    argument : str
        Name of a service, or of a rig that one serves; `tcp://HOST:PORT`; a rig file; a run folder; or empty.
    rig : str
        Of a service with several.
    key : str
        Over TCP, name of the service's key.

    Raises
    ------
    SourceGoneError
        There is nothing of this name; the message says what there is.
    """
    if not argument:
        found = services()
        if len(found) == 1:
            return _service(found[0], rig, key)
        folder = _newest_run() if not found else None
        if folder is None:
            what = f"name one: {', '.join(found)}" if found else "`rigloop serve RIG` starts one"
            raise SourceGoneError(f"{len(found)} services of yours are there: {what}")
        return _run(folder)
    path = Path(argument)
    if "://" in argument:
        return _service(argument, rig, key)
    if path.is_dir():
        if not (path / MANIFEST).is_file():
            raise SourceGoneError(f"{argument}: is not a run folder: it has no {MANIFEST}")
        return _run(path)
    if path.suffix == ".toml" or "/" in argument:
        if not path.is_file():
            raise SourceGoneError(f"{argument}: no such rig file or run folder")
        return _service(file_name(path.stem, "rig"), rig, key, path)
    return _service(argument, rig, key)


def _service(service: str, rig: str, key: str, beside: Path | None = None) -> Target:
    def opened() -> Source:
        try:
            return ServiceSource(service, rig, key)
        except (ServiceError, TimeoutError) as error:
            raise SourceGoneError(str(error)) from None

    return Target(service, opened, beside, "://" not in service)


def _run(folder: Path) -> Target:
    def opened() -> Source:
        try:
            return RecordedSource(folder)
        except (ManifestError, ConfigError, OSError) as error:
            raise SourceGoneError(str(error)) from None

    return Target(folder.name, opened)


def _newest_run() -> Path | None:
    for _, table in tables():
        try:
            with SignalTable.attach(table) as found:
                return Path(run_of(found.layout))
        except (TableError, OSError):
            continue
    return None
