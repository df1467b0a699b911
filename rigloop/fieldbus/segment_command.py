"""`rigloop sim-segment`: emulated EtherCAT slaves on an interface, for any master."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from rigloop.console.answers import Exit, answer, errors_as_lines, fail, print_json
from rigloop.console.screen import Screen, say

if TYPE_CHECKING:
    from io_bridge.emulator.devices.described_device import DescribedDevice
    from io_bridge.emulator.terminals.shaft import Shaft


def sim_segment(
    devices: Annotated[
        list[str] | None,
        typer.Argument(
            help="Devices in the order in which a master finds them: names of shipped devices "
            "(`--list`), paths of device files, or `FILE.xml#PRODUCT:REVISION` of a vendor's "
            "ESI. Quirks of foreign slaves may follow a device, as in "
            "`direct_drive+late_reply:ms=200+emergency`. By default `direct_drive`."
        ),
    ] = None,
    interface: Annotated[
        str, typer.Option(help="Network interface at which the master's frames arrive.")
    ] = "",
    second_interface: Annotated[
        str | None,
        typer.Option(
            help="Network interface at the other end of the slaves, for a master with cable "
            "redundancy."
        ),
    ] = None,
    orders: Annotated[
        bool,
        typer.Option(
            "--orders",
            help="Obey lines of standard input: `unplug 1`, `plug 1`, `power-off 1`, `power-on 1`. "
            "A cable has the number of the slave to which it leads.",
        ),
    ] = False,
    for_s: Annotated[
        float | None,
        typer.Option("--for", min=0.1, max=1e9, help="Seconds to serve; by default until Ctrl-C."),
    ] = None,
    drift_ppm: Annotated[
        float,
        typer.Option(
            min=-500,
            max=500,
            help="Rate error of the local clocks, ppm: the clock at position N "
            "runs fast by N times this value.",
        ),
    ] = 0.0,
    shaft: Annotated[
        list[str] | None,
        typer.Option(
            help="Couple two drives by a shaft with a torque transducer, such as `2:3` (positions); "
            "the transducer is on the first input of an analogue terminal, if there is one."
        ),
    ] = None,
    write_esi: Annotated[
        Path | None,
        typer.Option(
            help="Write an ESI file with these devices for configurators, and end; an existing file "
            "is never overwritten."
        ),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List the shipped devices and the quirks.")
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object at the end, instead of lines.")
    ] = False,
) -> None:
    """Serve emulated EtherCAT slaves to any master on an interface, such as one end of a veth pair."""
    from io_bridge.emulator.catalogue.devices import make_device
    from io_bridge.emulator.segment import Segment
    from io_bridge.emulator.serving.segment_orders import Orders
    from io_bridge.emulator.serving.sim_segment import Beside, Stop, serve_until
    from io_bridge.slaves import words
    from io_bridge.wire.owner import WireOwner, introduce
    from io_bridge.wire.packet_socket import PacketSocket

    if list_:
        _list(json)
        return
    if not interface and write_esi is None:
        fail(["--interface is missing: the end of a veth pair, or a card"], Exit.WRONG_INPUT, json)
    if interface == second_interface:
        fail(
            [f"--second-interface {second_interface}: is the first one too; a ring needs two"],
            Exit.WRONG_INPUT,
            json,
        )
    names = devices or ["direct_drive"]
    stop = Stop()
    notes: list[str] = []
    try:
        with errors_as_lines(json):
            made = [make_device(name, notes) for name in names]
        if write_esi is not None:
            _write_esi(write_esi, made, json)
            return
        for position, device in enumerate(made):
            device.clock_drift_ppm = drift_ppm * position
            # as if they had been switched on one after the other
            device.clock_start_ns = position * 1_000_000_000
        shafts = [_couple(made, text) for text in shaft or []]
        segment = Segment(made)
    except ValueError as error:
        fail(str(error).splitlines(), Exit.WRONG_INPUT, json)
    try:
        introduce("rigloop sim-segment")
        owner = WireOwner(interface, second_interface)
        wire = PacketSocket(interface, 0x00, 0xFF)
        second = None if second_interface is None else PacketSocket(second_interface, 0x00, 0xFF)
    except OSError as error:
        fail([str(error.strerror or error)], Exit.NOT_STARTED, json)
    console = Screen(stderr=json, highlight=False, soft_wrap=True)
    for note in notes:
        console.print(f"note: {note}", markup=False)
    for position, ((parent, port), device) in enumerate(zip(segment.parents, made, strict=True)):
        behind = "the master" if parent < 0 else f"port {port} of {parent}"
        console.print(f"{position}  {device.description.name}, behind {behind}", markup=False)
    places = interface if second_interface is None else f"{interface} and {second_interface}"
    console.print(f"serving {len(made)} slaves on {places}", markup=False)
    end_s = math.inf if for_s is None else time.monotonic() + for_s
    starter = os.getppid()

    def ended() -> bool:
        return bool(stop) or os.getppid() != starter or time.monotonic() > end_s

    try:
        frames = serve_until(
            segment,
            (wire, second),
            time.monotonic_ns(),
            ended,
            Beside(
                orders=Orders() if orders else None,
                say=lambda line: console.print(line, markup=False),
            ),
        )
    except OSError as error:
        fail([str(error)], Exit.NOT_STARTED, json)
    finally:
        wire.close()
        if second is not None:
            second.close()
        owner.close()
    states = [words.al_state(device.al_status) for device in made]
    message = {"frames": frames, "states": states, "shafts": len(shafts)}
    said = f"answered {frames} frames; {', '.join(states)}"
    answer(message, lambda: console.print(said, markup=False), json)


class ListingCommand(TyperCommand):
    """A command whose help ends with the devices and quirks that there are."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Add them; they are looked for only now."""
        example = self.epilog
        rows = [f"{name}: {title}" for name, title in _titles().items()]
        self.epilog = "\n\n".join([example or "", "Devices and quirks (`+`):", *rows])
        try:
            super().format_help(ctx, formatter)
        finally:
            self.epilog = example


def _titles() -> dict[str, str]:
    """Return what each device that ships and each quirk is; a quirk has a ``+`` before its name."""
    from io_bridge.emulator.catalogue.device_file import shipped
    from io_bridge.emulator.quirks.catalogue import quirks, title

    titles = {}
    for name, path in shipped().items():
        with path.open() as file:
            titles[name] = file.readline().strip("# \n")
    return titles | {f"+{name}": title(name) for name in quirks()}


def _list(json: bool) -> None:
    from io_bridge.emulator.quirks.catalogue import quirks

    titles = _titles()
    if json:
        print_json(titles)
        return
    known = quirks()
    for name, title in titles.items():
        say(f"{name:22} {title}")
        if name.startswith("+"):
            for key, option in known[name[1:]].OPTIONS.items():
                limits = f" ({', '.join(option.choices)})" if option.choices else ""
                say(f"{'':24} {key} = {option.shown}: {option.words}{limits}")


def _write_esi(path: Path, devices: list[DescribedDevice], json: bool) -> None:
    from io_bridge.esi.write import esi_text

    text = esi_text([device.description for device in devices])
    try:
        with path.open("xb") as file:
            file.write(text)
    except FileExistsError:
        fail([f"{path}: is there already; give another name"], Exit.WRONG_INPUT, json)
    except OSError as error:
        fail([f"{path}: {error.strerror}"], Exit.NOT_STARTED, json)
    answer({"wrote": str(path), "devices": len(devices)}, lambda: say(f"wrote {path}"), json)


def _couple(devices: list[DescribedDevice], text: str) -> Shaft:
    from io_bridge.emulator.drive.device import DriveDevice
    from io_bridge.emulator.terminals.analog_io import AnalogIo
    from io_bridge.emulator.terminals.shaft import Shaft

    first, _, second = text.partition(":")
    ends = [
        devices[int(end)] if end.isdecimal() and int(end) < len(devices) else None
        for end in (first, second)
    ]
    a, b = ends
    if not isinstance(a, DriveDevice) or not isinstance(b, DriveDevice):
        raise ValueError(f"--shaft {text}: two positions of drives, such as 0:1")
    made = Shaft(a, b)
    terminal = next((device for device in devices if isinstance(device, AnalogIo)), None)
    if terminal is not None:
        made.connect(terminal)
    return made
