"""Read a rig file: schema, tasks and wiring in one pass, all mistakes together."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from rig_configs.bounded import UnreadableError, parse_toml, read_text
from rig_configs.mistakes import ConfigError, Mistake, from_validation, near
from rig_configs.named_files import find_named
from rig_configs.plain import line
from rig_configs.schema import Rig

HERE = Path(__file__).parent


class Ports(NamedTuple):
    """The ports of a block: what is wired to a signal, what it writes, and what of the former may stay bare."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]
    optional: tuple[str, ...] = ()


PortsOf = Callable[[Mapping[str, Any]], Ports | None]


@dataclass(frozen=True)
class LoadedRig:
    """A validated rig with the text that it came from."""

    name: str
    path: Path
    text: str
    rig: Rig
    files: Mapping[str, str] = field(default_factory=dict)  # that it names: as written → path

    @property
    def argument(self) -> str:
        """What a command line takes for this rig: the name of one that ships, or the path."""
        return self.name if self.path.parent == HERE / "rigs" else shlex.quote(str(self.path))

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def find_rig(name: str) -> Path:
    """Return the file of a rig: a path as it is, a bare name from the rigs that ship.

    Raises
    ------
    ConfigError
        No such file, or no such rig.
    """
    if "/" in name or name.endswith(".toml"):
        path = Path(name)
        try:
            if path.exists():  # what it is, is seen when it is read
                return path
        except OSError:  # a name of too many bytes
            pass
        raise ConfigError(
            [
                Mistake(
                    name,
                    "rig",
                    "no such file",
                    "give a .toml file, or the name of a rig that ships",
                )
            ]
        )
    path = HERE / "rigs" / f"{name}.toml"
    if path.is_file():
        return path
    raise ConfigError(
        [Mistake(name, "rig", "no rig of this name ships", near(name, shipped_rigs()))]
    )


def shipped_rigs() -> list[str]:
    """Return the names of the rigs that come with the package."""
    return sorted(path.stem for path in (HERE / "rigs").glob("*.toml"))


def load_rig(
    name: str, ports_of: PortsOf, other_signals: Callable[[Iterable[str]], Iterable[str]]
) -> LoadedRig:
    """Read and check a rig file.

    Parameters
    ----------
    name : str
        Name of a rig that ships, or the path of a file.
    ports_of : callable
        From a block's table to its ports; None where the block is too wrong to tell. Mistakes that it
        raises without a file are in the block's own keys.
    other_signals : callable
        From the task names to the signals that no block writes (the loop's own, the supervisor's).

    Raises
    ------
    ConfigError
        With every mistake of the file.
    """
    path = find_rig(name)
    try:
        text = read_text(path)
        data = parse_toml(text)
    except UnreadableError as error:
        raise ConfigError([Mistake(str(path), "(file)", str(error), "is it a rig file?")]) from None
    file = str(path)
    files = find_named(data, path.parent)
    mistakes: list[Mistake] = []
    rig = None
    try:
        rig = Rig.model_validate(data)
    except ValidationError as error:
        mistakes += from_validation(file, error, Rig, data)
    mistakes += _task_mistakes(file, data)
    mistakes += _interface_mistakes(file, data)
    mistakes += _wiring_mistakes(file, data, ports_of, other_signals)
    if mistakes or rig is None:
        raise ConfigError(mistakes)
    return LoadedRig(line(path.stem), path, text, rig, files)


def read_checked(path: Path) -> LoadedRig:
    """Read a rig file that `load_rig` has found good: its schema alone, without what is behind it."""
    text = read_text(path)
    data = parse_toml(text)
    files = find_named(data, path.parent)
    return LoadedRig(line(path.stem), path, text, Rig.model_validate(data), files)


def write_path(block: str, table: Mapping[str, Any], port: str) -> str:
    """Return the signal that a block's port writes: as given, else `block/port`."""
    return str(table.get("writes", {}).get(port, f"{block}/{port}"))


def _tables(data: Mapping[str, Any], key: str) -> dict[str, Mapping[str, Any]]:
    """Return the sub-tables of `key` that are tables; the schema names those that are not."""
    tables = data.get(key, {})
    return (
        {k: v for k, v in tables.items() if isinstance(v, dict)} if isinstance(tables, dict) else {}
    )


# of a period, spin and work together: beyond 95 % the kernel stops real-time threads; as rt_core.host.spin.MOST_SHARE
MOST_DUTY = 0.85

# first words of signals that no block writes
OF_THE_LOOP = ("loop", "supervisor")


def _above(name: str, tasks: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return a task that shares the core of `name` and does not give way to it."""
    core, priority = tasks[name].get("core"), tasks[name].get("priority", 80)
    if type(core) is not int or type(priority) is not int:
        return None
    for other, task in tasks.items():
        level = task.get("priority", 80)
        if other != name and task.get("core") == core and type(level) is int and level >= priority:
            return other
    return None


def _task_mistakes(file: str, data: Mapping[str, Any]) -> Iterator[Mistake]:
    tasks, blocks = _tables(data, "tasks"), _tables(data, "blocks")
    periods = {
        n: t["period_us"]
        for n, t in tasks.items()
        if type(t.get("period_us")) is int and t["period_us"] > 0
    }
    fastest = min(periods, key=lambda name: periods[name], default=None)
    for name, period in periods.items():
        if fastest is not None and period % periods[fastest]:
            base = periods[fastest]
            nearest = f"{period // base * base or base} or {(period // base + 1) * base}"
            problem = f"not a multiple of tasks.{fastest}.period_us = {base}"
            yield Mistake(file, f"tasks.{name}.period_us", problem, f"take {nearest}", period)
        spin = tasks[name].get("spin_us", 0)
        if type(spin) is int and spin >= period:
            yield Mistake(
                file,
                f"tasks.{name}.spin_us",
                f"not below the period of {period}",
                f"spin at most {int(MOST_DUTY * period)}, so that the thread sleeps in each cycle",
                spin,
            )
        elif type(spin) is int and spin > MOST_DUTY * period:
            most = int(MOST_DUTY * period)
            yield Mistake(
                file,
                f"tasks.{name}.spin_us",
                f"{100 * spin / period:.0f} % of the period of {period}, before any work: at most "
                f"{100 * MOST_DUTY:.0f} %, beyond which the kernel takes real time away or ends the process",
                f"spin at most {most}; what the work takes comes off that while it runs",
                spin,
            )
        above = _above(name, tasks)
        if name in OF_THE_LOOP[1:]:
            problem = "signals under this name are those of the supervisor"
            yield Mistake(file, f"tasks.{name}", problem, "give the task another name")
        if spin and above is not None:
            yield Mistake(
                file,
                f"tasks.{name}.spin_us",
                f"task {above!r} has the same core and no lower priority: it would spin at its cost",
                "let only the highest task of a core spin",
                spin,
            )
    home: dict[str, str] = {}
    for task, table in tasks.items():
        listed = table.get("blocks", [])
        for block in listed if isinstance(listed, list) else []:
            key = f"tasks.{task}.blocks"
            if not isinstance(block, str):
                continue
            if block not in blocks:
                yield Mistake(
                    file,
                    key,
                    f"no block of this name: add [blocks.{block}]",
                    near(block, blocks),
                    block,
                )
            elif block in home:
                yield Mistake(
                    file, key, f"already stepped by task {home[block]!r}", "list it once", block
                )
            home.setdefault(block, task)
    for block in blocks:
        if block not in home:
            yield Mistake(
                file,
                f"blocks.{block}",
                "no task steps it",
                "list it in a task's blocks, or take it out",
            )


def _interface_mistakes(file: str, data: Mapping[str, Any]) -> Iterator[Mistake]:
    """Find a second interface that makes no ring with the first one."""
    for name, block in _tables(data, "blocks").items():
        second = block.get("second_interface")
        if block.get("kind") != "bus" or not isinstance(second, str):
            continue
        backend = block.get("backend", "simulated")
        key = f"blocks.{name}.second_interface"
        if backend == "simulated":
            problem = "the simulated bus has no cables"
            yield Mistake(file, key, problem, "take it out, or give backend an interface", second)
        elif (backend == "veth") != (second == "veth"):
            problem = f"backend is {backend!r}: both ends are interfaces, or both `veth`"
            yield Mistake(file, key, problem, "give both the same kind", second)
        elif second == "simulated" or (second == backend and backend != "veth"):
            problem = f"backend is {backend!r}: a ring needs two interfaces"
            yield Mistake(file, key, problem, "name the card of the second cable", second)


def _wiring_mistakes(
    file: str,
    data: Mapping[str, Any],
    ports_of: PortsOf,
    other_signals: Callable[[Iterable[str]], Iterable[str]],
) -> Iterator[Mistake]:
    blocks = _tables(data, "blocks")
    ports: dict[str, Ports] = {}
    for name, table in blocks.items():
        try:
            found = ports_of(table)
        except ConfigError as error:
            yield from (_of_block(file, name, mistake) for mistake in error.mistakes)
            continue
        if found is not None:
            ports[name] = found
    for name in blocks:
        if name in OF_THE_LOOP:
            problem = "signals under this name are those of the loop and the supervisor"
            yield Mistake(file, f"blocks.{name}", problem, "give the block another name")
    writer = dict.fromkeys(other_signals(_tables(data, "tasks")), "the loop")
    for name, (_, writes, _) in ports.items():
        given = _strings(blocks[name].get("writes"))
        for port in given:
            if port not in writes:
                yield Mistake(
                    file, f"blocks.{name}.writes.{port}", "no such port", near(port, writes)
                )
        for port in writes:
            path = given.get(port, f"{name}/{port}")
            if name not in OF_THE_LOOP and path.partition("/")[0] in OF_THE_LOOP:
                problem = "signals under this name are those of the loop and the supervisor"
                key = f"blocks.{name}.writes.{port}"
                yield Mistake(file, key, problem, "write it under another name", path)
            elif "/" not in path:
                key = f"blocks.{name}.writes.{port}"
                problem = "a signal that blocks write has a slash in its path"
                yield Mistake(file, key, problem, f"write it like {name}/{path}", path)
            elif path in writer:
                key = f"blocks.{name}.writes.{port}"
                yield Mistake(
                    file,
                    key,
                    f"already written by {writer[path]}",
                    "give one of them another name",
                    path,
                )
            writer.setdefault(path, f"block {name!r}")
    all_known = len(ports) == len(blocks)
    for name, (reads, _, optional) in ports.items():
        given = _strings(blocks[name].get("reads"))
        for port, path in given.items():
            key = f"blocks.{name}.reads.{port}"
            if port not in reads:
                yield Mistake(file, key, "no such port", near(port, reads))
            elif path not in writer and all_known:
                yield Mistake(file, key, "no block writes this signal", near(path, writer), path)
        for port in reads:
            if port not in given and port not in optional:
                yield Mistake(
                    file, f"blocks.{name}.reads.{port}", "missing", "wire this port to a signal"
                )
    if all_known:
        show = data.get("show")
        others = show.get("signals", []) if isinstance(show, dict) else []
        paths = {
            f"signals[{i}]": p for i, p in enumerate(others if isinstance(others, list) else [])
        }
        for role, path in (_strings(show) | _strings(paths)).items():
            if path not in writer:
                yield Mistake(
                    file, f"show.{role}", "no block writes this signal", near(path, writer), path
                )


def _of_block(file: str, block: str, mistake: Mistake) -> Mistake:
    """Say where a mistake of a block is: in its own keys, or in a file that it names."""
    if mistake.file:
        return replace(mistake, key=f"blocks.{block}: {mistake.key}")
    return replace(mistake, file=file, key=f"blocks.{block}.{mistake.key}")


def _strings(table: Any) -> dict[str, str]:
    return {k: v for k, v in table.items() if isinstance(v, str)} if isinstance(table, dict) else {}
