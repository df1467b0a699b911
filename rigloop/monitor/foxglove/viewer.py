"""One viewer of another program, without a socket: what it subscribes to, and the frames that it is sent.

The protocol is that of `foxglove.websocket.v1`, which `foxglove.sdk.v1` goes on with: texts are JSON with an `op`, a
binary message is its code, the subscription as uint32, the time as uint64, and the message.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from codegen.description.mechanism import MechanismError
from rig_configs.plain import line
from rigloop.monitor.foxglove.channels import Channel, channels_of, log_of, messages_of, scene_of
from rigloop.monitor.sources.moving import Moving
from rigloop.monitor.sources.onlooker import Onlooker
from rigloop.monitor.sources.source import Moment, Source, SourceGoneError
from rigloop.monitor.sources.words import in_words, watched

MESSAGE_DATA = struct.Struct("<BIQ")
MESSAGE_CODE = 1
MOST_BYTES = 1 << 16
STATUS_S = 0.2
MOST_CYCLES = 20_000  # of a task in one batch; the rest comes with the next one
INFO, WARNING, ERROR = 2, 3, 4  # of an event
STATUS_WARNING, STATUS_ERROR = 1, 2
Number = Annotated[int, Meta(ge=0, le=0xFFFF_FFFF)]


class _Wanted(Struct, frozen=True, rename="camel"):
    id: Number
    channel_id: Number


class _Heard(Struct, frozen=True, rename="camel"):
    op: Annotated[str, Meta(max_length=64)]
    subscriptions: Annotated[list[_Wanted], Meta(max_length=1000)] = []
    subscription_ids: Annotated[list[Number], Meta(max_length=1000)] = []


_heard = msgspec.json.Decoder(_Heard)
Frame = str | bytes


class Viewer(Onlooker):
    """A viewer and its source."""

    def __init__(self, open_source: Callable[[], Source]) -> None:
        super().__init__(open_source)
        self._channels: dict[int, Channel] = {}
        self._wanted: dict[int, Channel] = {}
        self._movings: list[Moving] = []
        self._moment = Moment()
        self._zero_ns = 0
        self._at: dict[str, int] = {}
        self._status_at = 0.0
        self._faults: list[str] = []
        self._goes_on = False

    def turn(self, raws: Sequence[str]) -> list[Frame]:
        """Do what the viewer asks for, and return what it has to be sent now."""
        out: list[Frame] = []
        try:
            if self._source is None and not self._is_opened(out):
                return out
            for raw in raws:
                self._hear(raw, out)
            self._look(out)
            self._advance(out)
        except SourceGoneError as error:
            out.append(_status(STATUS_ERROR, line(str(error), 400)))
            if self._channels:
                out.append(_json({"op": "unadvertise", "channelIds": list(self._channels)}))
            self.close()
            self._look_later()
        return out

    def close(self) -> None:
        """Leave the source; whatever runs goes on. Harmless when repeated."""
        super().close()
        for moving in self._movings:
            moving.close()
        self._movings, self._channels, self._wanted, self._at = [], {}, {}, {}

    def _is_opened(self, out: list[Frame]) -> bool:
        try:
            source = self._opened()
        except SourceGoneError:
            return False
        if source is None:
            return False
        periods = {task.name: task.period_us for task in source.description.tasks}
        self._movings = []
        for mechanism in source.description.mechanisms:
            try:
                self._movings.append(Moving(mechanism, periods[mechanism.task]))
            except (MechanismError, OSError, KeyError):
                # a file of another version; its channel is left out
                continue
        self._channels = {one.number: one for one in channels_of(source, self._movings)}
        self._moment, self._status_at, self._faults = Moment(), 0.0, []
        out.append(
            _json(
                {
                    "op": "serverInfo",
                    "name": f"rigloop: {source.description.rig}",
                    "capabilities": [],
                    "supportedEncodings": [],
                    "metadata": {"rig": source.description.rig},
                    "sessionId": str(time.time_ns()),
                }
            )
        )
        shown = [channel.advertised() for channel in self._channels.values()]
        out.append(_json({"op": "advertise", "channels": shown}))
        return True

    def _hear(self, raw: str, out: list[Frame]) -> None:
        try:
            if len(raw) > MOST_BYTES:
                raise ValueError(f"a message of {len(raw)} characters: at most {MOST_BYTES}")
            message = _heard.decode(raw)
        except (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError) as error:
            out.append(_status(STATUS_WARNING, line(str(error), 200)))
            return
        if message.op == "subscribe":
            for wanted in message.subscriptions:
                channel = self._channels.get(wanted.channel_id)
                if channel is None:
                    out.append(
                        _status(STATUS_WARNING, f"subscribe: no channel {wanted.channel_id}")
                    )
                    continue
                self._wanted[wanted.id] = channel
        elif message.op == "unsubscribe":
            for number in message.subscription_ids:
                self._wanted.pop(number, None)
        else:
            out.append(_status(STATUS_WARNING, f"{line(message.op, 64)}: this server only shows"))

    def _look(self, out: list[Frame]) -> None:
        now, source = time.monotonic(), self._source
        assert source is not None
        if now < self._status_at:
            return
        self._status_at = now + STATUS_S
        before, self._moment = self._moment, source.moment()
        is_another = (before.run, before.number) != (self._moment.run, self._moment.number)
        if is_another or self._moment.t_s < before.t_s:
            self._zero_ns = time.time_ns() - round(self._moment.t_s * 1e9)
            self._at = {}
        self._goes_on = bool(self._moment.run) and self._moment.phase not in ("idle", "starting")
        paths = [path for path in watched(source.description) if path in source.signals]
        values = source.newest(paths) if self._goes_on else {}
        faults = [*in_words(source.description, values)["faults"], *self._moment.words]
        for words in faults:
            if words not in self._faults:
                self._send_event(words, WARNING if words in self._moment.words else ERROR, out)
        if before.phase != self._moment.phase:
            self._send_event(self._moment.phase, INFO, out)
        self._faults = faults

    def _send_event(self, words: str, level: int, out: list[Frame]) -> None:
        stamp = time.time_ns()
        for number, channel in self._wanted.items():
            if not channel.task:
                out.append(_data(number, stamp, log_of(words, level, stamp)))

    def _advance(self, out: list[Frame]) -> None:
        source = self._source
        assert source is not None
        if not self._goes_on:
            return
        by_task: dict[str, list[tuple[int, Channel]]] = {}
        for number, channel in self._wanted.items():
            if channel.task:
                by_task.setdefault(channel.task, []).append((number, channel))
        for task in [task for task in self._at if task not in by_task]:
            del self._at[task]
        for task, wanted in by_task.items():
            self._send_cycles(source, task, wanted, out)

    def _send_cycles(
        self, source: Source, task: str, wanted: list[tuple[int, Channel]], out: list[Frame]
    ) -> None:
        paths = [p for _, c in wanted for p in (c.paths if c.moving is None else c.moving.paths)]
        if not paths:
            return
        is_first = task not in self._at
        begin = self._at.setdefault(task, round(self._moment.t_s * 1e9))
        piece = source.capture(list(dict.fromkeys(paths)), task, begin, 10**17)
        new = slice(*_places(piece.t_ns, begin))
        t_ns = piece.t_ns[new]
        if not len(t_ns):
            return
        self._at[task] = int(t_ns[-1]) + 1
        columns = {path: values[new] for path, values in piece.columns.items()}
        stamps = (t_ns + self._zero_ns).tolist()
        for number, channel in wanted:
            if channel.moving is not None:
                if channel.moving.paths:
                    channel.moving.step(columns, is_first)
                    scene = scene_of(channel.moving, stamps[-1])
                    out.append(_data(number, stamps[-1], scene))
                continue
            messages = messages_of(channel, columns, len(stamps))
            out += [_data(number, at, one) for at, one in zip(stamps, messages, strict=True)]


def _places(t_ns: Any, begin: int) -> tuple[int, int]:
    first = int(t_ns.searchsorted(begin))
    return first, min(len(t_ns), first + MOST_CYCLES)


def _data(subscription: int, stamp_ns: int, message: bytes) -> bytes:
    return MESSAGE_DATA.pack(MESSAGE_CODE, subscription, stamp_ns) + message


def _status(level: int, words: str) -> str:
    return _json({"op": "status", "level": level, "message": words})


def _json(content: dict[str, Any]) -> str:
    return msgspec.json.encode(content).decode()
