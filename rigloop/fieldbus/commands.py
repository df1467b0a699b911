"""The commands that look at a bus."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape

from rigloop.console.answers import Exit, JsonOption, answer, errors_as_lines, fail, print_json
from rigloop.console.screen import Screen

if TYPE_CHECKING:
    from io_bridge.esi.library import Library

InterfaceArgument = Annotated[
    str, typer.Argument(help="Network interface of the slaves, such as `eth1`.")
]
SecondOption = Annotated[
    str | None,
    typer.Option(
        "--second-interface",
        help="Network interface to which the cable of the last slave returns, in a ring.",
    ),
]

EsiOption = Annotated[
    Path | None,
    typer.Option(
        help="ESI file of a vendor, or a folder of them. It gives the time-outs of a slave; for "
        "`scan` also names and types of the mapped objects, and a line for each contradiction "
        "between slave and file.",
        readable=False,
    ),
]


def scan(
    interface: InterfaceArgument,
    skeleton: Annotated[
        Path | None,
        typer.Option(
            help="File for the bus block of a rig with these slaves; an existing file is never "
            "overwritten."
        ),
    ] = None,
    second: SecondOption = None,
    esi: EsiOption = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Listen although another EtherCAT master uses the wire; nothing is written then.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """List the slaves on a wire: identities, states, clocks, PDOs. While a loop runs, it only reads."""
    from io_bridge.attendant import scan as wire
    from io_bridge.wire.owner import introduce
    from rigloop.fieldbus import show
    from rigloop.fieldbus import skeleton as rig_file
    from rigloop.fieldbus.esi_notes import limits_of, look_up

    console = Screen(stderr=json)
    with errors_as_lines(json):
        if skeleton is not None and skeleton.exists():
            fail([f"{skeleton}: is there already; give another name"], Exit.WRONG_INPUT, json)
    known, library = None, _opened(esi, json)
    with errors_as_lines(json), show.speaking(interface, json):
        introduce("rigloop scan")
        limits = None if library is None else partial(limits_of, library)
        found = wire.scan(interface, second, force, limits)
    if library is not None:
        known, mistakes = look_up(found.slaves, library)
        for mistake in mistakes:
            Screen(stderr=True).print(
                escape(f"left out: {mistake}"), highlight=False, soft_wrap=True
            )
    if skeleton is not None:
        text = rig_file.bus_block(interface, found.slaves, known, second)
        skeleton.write_text(text, encoding="utf-8")
        console.print(f"wrote {escape(str(skeleton))}", highlight=False, soft_wrap=True)
    answer(
        show.scan_message(interface, found, known),
        lambda: show.print_scan(console, interface, found, known),
        json,
    )


def _opened(esi: Path | None, json: bool) -> Library | None:
    """Return the ESI files that an option names."""
    if esi is None:
        return None
    from io_bridge.esi.document import EsiError
    from rigloop.fieldbus.esi_notes import open_library

    # not Path.exists, which raises for a name that is too long
    if not os.path.exists(esi):
        fail([f"{esi}: no such file or folder"], Exit.WRONG_INPUT, json)
    try:
        return open_library(esi)
    except EsiError as error:
        fail(str(error).splitlines(), Exit.WRONG_INPUT, json)


def sdo(
    interface: InterfaceArgument,
    slave: Annotated[int, typer.Argument(min=0, help="Place in the ring, from 0.")],
    object: Annotated[
        str, typer.Argument(metavar="INDEX[:SUB]", help="Object, such as `0x6041` or `0x1018:1`.")
    ],
    value: Annotated[
        str | None,
        typer.Argument(
            help="Number to write; without it the object is read. Put `--` before a "
            "negative number."
        ),
    ] = None,
    size: Annotated[
        Literal["1", "2", "4", "8"] | None,
        typer.Option("--bytes", help="Size to write; by default the size of the object."),
    ] = None,
    second: SecondOption = None,
    esi: EsiOption = None,
    json: JsonOption = False,
) -> None:
    """Read or write an object of a slave: through the loop that runs the slave, or directly if no loop runs."""
    from io_bridge.wire.owner import introduce
    from rigloop.fieldbus import objects, show
    from rigloop.fieldbus.esi_notes import limits_of

    library = _opened(esi, json)
    with errors_as_lines(json):
        try:
            index, subindex = objects.parse_object(object)
            number = None if value is None else objects.parse_number(value)
        except ValueError as error:
            fail([str(error)], Exit.WRONG_INPUT, json)
        with show.speaking(interface, json):
            introduce("rigloop sdo")
            data, said = objects.transfer(
                interface,
                objects.Wanted(slave, index, subindex, number, None if size is None else int(size)),
                second,
                None if library is None else partial(limits_of, library),
            )
    message = objects.as_message(
        slave, index, subindex, data, written=number is not None, said=said
    )
    if json:
        print_json(message)
    else:
        for line in (objects.in_words(message), *(f"slave {slave}  {line}" for line in said)):
            Screen().print(escape(line), highlight=False, soft_wrap=True)


def bus(
    run: Annotated[
        str, typer.Argument(help="Folder of a recorded run, or `live` for the current run.")
    ],
    name: Annotated[str | None, typer.Option("--bus", help="Bus, if the rig has several.")] = None,
    json: JsonOption = False,
) -> None:
    """Show the health of each slave: bad cycles, lowest working counter, AL state, clock; and lost and late frames."""
    from rigloop.fieldbus import health, show

    try:
        with errors_as_lines(json):
            found: Any = health.live(name) if run == "live" else health.recorded(Path(run), name)
    except health.NothingToShowError as error:
        fail([str(error)], Exit.WRONG_INPUT, json)
    answer(found, lambda: show.print_health(Screen(), found), json, good=found.good)
