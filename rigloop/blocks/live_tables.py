"""Live values and stimuli of a rig file become blocks, each just before the block that it acts on.

So everything that is true of blocks is true of them: wiring, units, costs, records and replay know nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from rig_configs.live import CHANGES, Expanded, LiveValue, Stimulus, Target, live_path
from rig_configs.mistakes import ConfigError, Mistake, near
from rig_configs.wiring import strings, tables
from rigloop.blocks.catalogue import find_kind, ports_of
from rigloop.blocks.compiled.kind import may_be_live
from rigloop.blocks.compiled.parameter_values import value_problems
from rigloop.blocks.stimuli import signal_mistakes, wires
from rt_core.names import OF_THE_LOOP

LIVE, STIMULI = "live", "stimuli"
REQUEST = "torque_request_nm"  # the input of a guard that it limits, and does not watch


def expand(file: str, data: dict[str, Any]) -> Expanded:
    """Return the tables of a rig with a block for each live value and each stimulus.

    Entries with mistakes are left out; the schema finds those that have wrong keys.
    """
    if not data.get(LIVE) and not data.get(STIMULI):
        return Expanded(data, [], {})
    return _Expansion(file, data).done()


class _Expansion:
    def __init__(self, file: str, data: dict[str, Any]) -> None:
        self.file = file
        self.blocks = {name: dict(table) for name, table in tables(data, "blocks").items()}
        self.own = tuple(self.blocks)
        self.orders = {
            name: [*task["blocks"]]
            for name, task in tables(data, "tasks").items()
            if isinstance(task.get("blocks"), list)
        }
        self.data = data
        self.mistakes: list[Mistake] = []
        self.homes: dict[str, str] = {}
        self.chains: dict[tuple[str, str], str] = {}  # target → what the stimuli so far come to
        self.tasks: dict[str, str] = {}

    def done(self) -> Expanded:
        live: dict[str, LiveValue] = dict(self._of(LIVE, LiveValue))
        taken: dict[tuple[str, str], str] = {}
        for name, one in live.items():
            first = taken.setdefault((one.block, one.port), name)
            if first != name:
                problem = f"live value {first!r} has this target already"
                self._wrong(f"{LIVE}.{name}.block", problem, "take one of them out", one.block)
        for name, stimulus in self._of(STIMULI, Stimulus):
            self._stimulus(name, stimulus, (stimulus.block, stimulus.port) in taken)
        for name, one in live.items():
            if taken[one.block, one.port] == name:
                self._live(name, one)
        self._groups(live)
        data = dict(self.data)
        if isinstance(data.get("blocks"), dict):
            data["blocks"] = {**data["blocks"], **self.blocks}
        if isinstance(data.get("tasks"), dict):
            data["tasks"] = {
                name: {**task, "blocks": self.orders[name]} if name in self.orders else task
                for name, task in data["tasks"].items()
            }
        return Expanded(data, self.mistakes, self.homes)

    def _of(self, home: str, model: type[Target]) -> Iterator[tuple[str, Any]]:
        for name, table in tables(self.data, home).items():
            key = f"{home}.{name}"
            if name in self.own or name in OF_THE_LOOP or live_path(name) == CHANGES:
                problem = "a block, or a part of the loop, has this name already"
                self._wrong(key, problem, "give it another name")
            elif home == STIMULI and name in tables(self.data, LIVE):
                self._wrong(key, "a live value has this name already", "give it another name")
            else:
                try:
                    one = model.model_validate(table)
                except ValidationError:  # the schema of the rig says so, but not of a signal
                    if isinstance(signal := table.get("signal"), dict):
                        at = f"{key}.signal"
                        given = {"unit": "1"} | signal
                        self.mistakes += signal_mistakes(self.file, at, given)
                    continue
                if isinstance(one, Stimulus) and "unit" in one.signal:
                    problem = "the signal has the unit of its stimulus"
                    self._wrong(f"{key}.signal.unit", problem, "leave it out")
                elif self._may_target(key, one):
                    yield name, one

    def _wrong(self, key: str, problem: str, remedy: str, *value: Any) -> None:
        self.mistakes.append(Mistake(self.file, key, problem, remedy, *value))

    def _may_target(self, key: str, one: Target) -> bool:
        found = list(self._target_mistakes(key, one))
        self.mistakes += found
        task = next((task for task, order in self.orders.items() if one.block in order), None)
        if task is None and not found:
            problem = "no task steps this block"
            self._wrong(f"{key}.block", problem, "list it in a task", one.block)
        return not found and task is not None

    def _target_mistakes(self, key: str, one: Target) -> Iterator[Mistake]:
        table = self.blocks.get(one.block)
        if table is None:
            yield Mistake(
                self.file, f"{key}.block", "no such block", near(one.block, self.own), one.block
            )
            return
        kind = table.get("kind")
        if kind == "guard" and one.port != REQUEST:
            what = "a limit of a guard" if one.parameter else "an input that a guard watches"
            problem = (
                f"{what} must not change while the rig runs: otherwise the guard would not protect"
            )
            remedy = (
                f"change the torque that it limits: its input {REQUEST!r}, or a block before it"
            )
            yield Mistake(
                self.file,
                f"{key}.{'parameter' if one.parameter else 'input'}",
                problem,
                remedy,
                one.port,
            )
            return
        if kind == "bus" and one.port.partition("/")[0] in tables(table, "drives"):
            problem = "it acts on a drive after the guard, where nothing limits it"
            remedy = f"change the torque before the guard: its input {REQUEST!r}"
            yield Mistake(self.file, f"{key}.input", problem, remedy, one.port)
            return
        try:
            ports = ports_of(table)
        except ConfigError:  # is said of the block
            return
        if ports is not None:
            yield from self._port_mistakes(key, one, table, ports.read_names)

    def _port_mistakes(
        self, key: str, one: Target, table: Mapping[str, Any], inputs: tuple[str, ...]
    ) -> Iterator[Mistake]:
        if one.input is not None:
            if one.input not in inputs:
                problem = f"block {one.block!r} has no such input"
                yield Mistake(
                    self.file, f"{key}.input", problem, near(one.input, inputs), one.input
                )
            return
        kind = find_kind(table.get("kind"))
        at = f"{key}.parameter"
        if kind is None:
            return
        if kind.declared is None:
            problem = f"the keys of a block of kind {kind.name!r} hold for a whole run"
            remedy = f"take an input: {', '.join(inputs) or 'it has none'}"
            yield Mistake(self.file, at, problem, remedy, one.parameter)
            return
        declaration = kind.declared.declaration
        good = [name for name in declaration.parameters if may_be_live(declaration, name)]
        if one.parameter not in good:
            problem = (
                "no such parameter"
                if one.parameter not in declaration.parameters
                else "this parameter is fixed for a run: it is not a number, or the block's `prepare` uses it"
            )
            remedy = f"one of {', '.join(good)}" if good else "take an input"
            yield Mistake(self.file, at, problem, remedy, one.parameter)
        elif isinstance(one, LiveValue):
            for bound in ("lower", "upper"):
                for problem in value_problems(
                    declaration.parameters[one.parameter], getattr(one, bound)
                ):
                    words = f"parameter {one.parameter!r} of {one.block!r} {problem}"
                    value = getattr(one, bound)
                    yield Mistake(self.file, f"{key}.{bound}", words, "narrow the limit", value)

    def _live(self, name: str, one: LiveValue) -> None:
        reads = dict(strings(self.blocks[one.block].get("reads")))
        if one.port in reads:
            problem = f"is wired to {reads[one.port]!r} as well"
            key = f"blocks.{one.block}.reads.{one.port}"
            self._wrong(key, problem, f"leave it out: live.{name} takes its place")
            return
        wired = {"wanted": live_path(name), "changes": CHANGES}
        if (one.block, one.port) in self.chains:
            wired["added"] = self.chains[one.block, one.port]
        table = {
            "kind": "live_value",
            "unit": one.unit,
            "lower": one.lower,
            "upper": one.upper,
            "rate": one.rate_per_s,
            "start": one.start,
            "reads": wired,
        }
        self._insert(name, LIVE, one, table, f"{name}/value")

    def _stimulus(self, name: str, one: Stimulus, on_live: bool) -> None:
        target = (one.block, one.port)
        before = self.chains.get(target)
        if before is None and not on_live:
            before = strings(self.blocks[one.block].get("reads")).get(one.port)
            if before is None:
                problem = "nothing is wired to it, which a stimulus could be added to"
                self._wrong(f"{STIMULI}.{name}.block", problem, "give it a [live.NAME]", one.block)
                return
        table = one.model_dump(
            exclude={"block", "input", "parameter", "who", "signal"}, exclude_none=True
        )
        table |= {"kind": "stimulus", "signal": {**one.signal, "unit": one.unit}}
        table["reads"] = {"number": live_path(name), **wires(table)}
        if before is not None:
            table["reads"]["before"] = before
        self.chains[target] = f"{name}/value"
        self._insert(name, STIMULI, one, table, None if on_live else f"{name}/value")

    def _insert(
        self, name: str, home: str, one: Target, table: dict[str, Any], signal: str | None
    ) -> None:
        block = self.blocks[one.block]
        if signal is not None:
            block["reads"] = {**strings(block.get("reads")), one.port: signal}
        self.blocks[name], self.homes[name] = table, home
        for task, order in self.orders.items():
            if one.block in order:
                # the guards of a task are its last blocks: nothing comes between two of them
                last = [b for b in order if self._is_guard(b)] if self._is_guard(one.block) else []
                order.insert(min(map(order.index, last or [one.block])), name)
                self.tasks[name] = task

    def _is_guard(self, block: object) -> bool:
        return self.blocks.get(str(block), {}).get("kind") == "guard"

    def _groups(self, live: Mapping[str, LiveValue]) -> None:
        firsts: dict[str, str] = {}
        for name, one in live.items():
            if one.group is None or name not in self.tasks:
                continue
            first = firsts.setdefault(one.group, name)
            if self.tasks[first] != self.tasks[name]:
                problem = (
                    f"acts in task {self.tasks[name]!r}, and {first!r} of the same group in {self.tasks[first]!r}: "
                    "they would not change in one cycle"
                )
                self._wrong(f"{LIVE}.{name}.group", problem, "give each task a group", one.group)
