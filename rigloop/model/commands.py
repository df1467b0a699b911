"""`rigloop model ...`: look at a mechanism, check it, film it, linearise it, choose its options, import one, or take a
serial chain."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.markup import escape

from rigloop.console.answers import Exit, JsonOption, answer, errors_as_lines, fail, print_json
from rigloop.console.screen import Screen, say
from rigloop.display.verdict import remark

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Show, check, draw, film, linearise or import a mechanism, and choose its options.",
    epilog="Example: `rigloop model show steering_26 --output steering.svg`",
)

Target = Literal["c99", "cython", "numpy"]
MechanismArgument = Annotated[
    str, typer.Argument(help="Name of a shipped mechanism, or the path of a mechanism file.")
]


@app.command(epilog="Example: `rigloop model show steering_26 --output steering.svg`")
def show(
    mechanism: MechanismArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write a drawing to this file (.svg, .png or .pdf); with --run or --simulate a "
            "film (.gif or .html).",
        ),
    ] = None,
    run: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a recorded run or replay; its motion is filmed.", readable=False
        ),
    ] = None,
    simulate: Annotated[
        float | None,
        typer.Option(min=0.04, max=600, help="Seconds of free motion that are filmed."),
    ] = None,
    transfer: Annotated[
        bool,
        typer.Option(
            "--transfer",
            help="Print the overall transfer equation of its tree instead, as text and LaTeX.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Print a mechanism's coordinates, constraints, degrees of freedom, masses and cost of a step; draw or film it."""
    from rigloop.model.show import Picture, show_mechanism
    from rigloop.model.transfer import show_transfer

    console = Screen(stderr=json)
    if transfer:
        with errors_as_lines(json):
            equations = show_transfer(mechanism, console, quiet=json)
        if json:
            print_json(equations)
        return
    with errors_as_lines(json):
        facts = show_mechanism(mechanism, Picture(output, run, simulate), console, quiet=json)
    if json:
        print_json(facts)


@app.command(epilog="Example: `rigloop model check my_mechanism.toml`")
def check(mechanism: MechanismArgument, json: JsonOption = False) -> None:
    """Check a mechanism file: names, keys, units, assembly, redundancy. Compiles nothing."""
    from rigloop.model.checked import checked

    with errors_as_lines(json):
        found = checked(mechanism)
    if json:
        print_json(
            {
                "mechanism": found.mechanism.name,
                "sha256": found.mechanism.sha256,
                "dof": found.dof,
                "is_singular": found.is_singular,
                "redundant": found.redundant,
                "doubts": found.doubts,
                "mistakes": [],
            }
        )
        return
    console = Screen()
    freedoms = "1 freedom" if found.dof == 1 else f"{found.dof} freedoms"
    console.print(
        f"[green]good[/]  {escape(str(found.path))}: {freedoms}", soft_wrap=True, highlight=False
    )
    for words in (*found.doubts, *found.redundant):
        remark(words, console)
    if found.is_singular:
        remark("the pose is singular", console)


@app.command(
    epilog="Example: `rigloop model linearize five_bar --output five_bar.npz --plot modes.svg`"
)
def linearize(
    mechanism: MechanismArgument,
    input_: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            help="Equilibrium: `port=value` of a guide's position or an input signal, such as "
            "`guide/wheel/position_rad=0.4`; repeatable. A port that is not given has the "
            "file's value.",
        ),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            help="Run-time parameter: `path=value`, such as `mass/rack/mass_kg=3`; repeatable.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write A, B, C, D, poles and names into this .npz."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Picture of poles, modes and responses: .svg, .png or .pdf."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Find the equilibrium of a mechanism, print its modes there, and write its linear system."""
    from rigloop.model.linearize import linearize as linearized

    with errors_as_lines(json):
        found = linearized(mechanism, input_ or [], parameter or [], output=output, plot=plot)
    if json:
        print_json(found)
        return
    from rigloop.model.linear_view import show as show_linear

    console = Screen()
    show_linear(found, console)
    for path in (output, plot):
        if path is not None:
            console.print(f"[green]written[/]  {escape(str(path))}", highlight=False)


@app.command(epilog="Example: `rigloop model flex my_mechanism.toml --output modes.svg`")
def flex(
    mechanism: MechanismArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write a drawing of the modes to this file (.svg, .png or .pdf), or a film of one "
            "period (.gif).",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Print the modes of flexible bodies: frequencies, effective masses, truncated modes; draw or film them."""
    from rigloop.model.flex import flex as flexed
    from rigloop.model.flex import show as show_flex

    with errors_as_lines(json):
        found = flexed(mechanism, output)
    if json:
        print_json({"bodies": found})
        return
    console = Screen()
    show_flex(found, console)
    if output is not None:
        console.print(f"[green]written[/]  {escape(str(output))}", highlight=False)


@app.command(
    epilog="Example: `rigloop model reduce frame.npz --name frame --at hub --keep arm --modes 10 -o frame.toml`"
)
def reduce(
    model: Annotated[
        Path,
        typer.Argument(help="Finite-element model: .npz, or .toml next to Matrix Market files."),
    ],
    name: Annotated[str, typer.Option(help="Name of the flexible body.")],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="File that gets the table, for use in a mechanism file."
        ),
    ],
    at: Annotated[
        list[str] | None,
        typer.Option(
            help="Node of the reference frame; given twice, a line through two nodes; not given, "
            "the mean of the motion."
        ),
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Node at which forces act; repeatable.")
    ] = None,
    modes: Annotated[int, typer.Option(min=1, max=64, help="Number of normal modes.")] = 10,
    highest_hz: Annotated[
        float | None, typer.Option(min=0.0, help="Modes above this frequency are dropped.")
    ] = None,
    free_free: Annotated[
        bool,
        typer.Option(
            "--free-free", help="Free-free and residual attachment modes, not Craig-Bampton."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Reduce a finite-element model to modes, and write the table of a flexible body."""
    from codegen.flexible.reduction import Wanted
    from rigloop.model.reduce import reduce_model

    with errors_as_lines(json):
        wanted = Wanted(tuple(at or ())[:2], tuple(keep or ()), modes, highest_hz, free_free)
        found = reduce_model(model, name, wanted, output)
    if json:
        print_json(found)
        return
    console = Screen()
    hz = ", ".join(f"{f:.4g}" for f in found.frequency_hz)
    centre = ", ".join(f"{x:.4g}" for x in found.centre_m)
    say(f"mass {found.mass_kg:.6g} kg, centre ({centre}) m")
    say(f"modes at {hz} Hz; {found.dropped} shapes left out")
    say(f"shape integrals miss a modal mass by {100.0 * found.modal_mass_error:.2g} % at most")
    for told in found.remarks:
        remark(told, console)
    console.print(f"[green]written[/]  {escape(str(output))}", highlight=False)


@app.command(epilog="Example: `rigloop model advise steering_26 --error 1e-3 --period-ms 1`")
def advise(
    mechanism: MechanismArgument,
    error: Annotated[
        float,
        typer.Option(
            min=1e-9,
            max=0.5,
            help="Largest error of every output and coordinate, relative to its largest value in "
            "the motion.",
        ),
    ] = 1e-4,
    duration_s: Annotated[
        float, typer.Option(min=0.005, max=60.0, help="Seconds of motion that are simulated.")
    ] = 2.0,
    period_ms: Annotated[
        float | None,
        typer.Option(
            min=0.05,
            max=20.0,
            help="Cycle of the rig: the kernel is called once a cycle, and may take substeps.",
        ),
    ] = None,
    motion: Annotated[
        list[str] | None,
        typer.Option(
            "--motion",
            help="Sine that drives the mechanism, `port=amplitude@hertz`, such as "
            "`guide/wheel/position_rad=0.5@1` or `input/force/drive/torque_nm=6@0.5`; "
            "repeatable. A guide without a sine swings 0.3 rad or 30 mm at 1 Hz.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Measure formulations, integrators and steps, and name the cheapest that meets a given error.

    The exit code is 1 if none meets it.
    """
    from rigloop.model.advise import advise as advised
    from rigloop.model.advise_view import show as show_advice

    console = Screen(stderr=json)
    with errors_as_lines(json), console.status("reading") as status:
        found = advised(
            mechanism,
            error=error,
            duration_s=duration_s,
            period_s=None if period_ms is None else 1e-3 * period_ms,
            motions=motion or [],
            tell=lambda words: status.update(escape(words)),
        )
    answer(found, lambda: show_advice(found, console), json, good=not found.refusal)


@app.command(epilog="Example: `rigloop model generate steering_26 --target c99 -o steering`")
def generate(
    mechanism: MechanismArgument,
    target: Annotated[
        Target,
        typer.Option(
            help="`c99`: standalone source, header and example for any host; `cython`: kernel.c and "
            "its Python wrapper; `numpy`: the same mechanism as a plain module."
        ),
    ] = "c99",
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the files.")] = Path(
        "generated"
    ),
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option",
            help="Option `key=value` of docs/models/options.md, such as `step_s=5e-4`; repeatable.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write the source of a mechanism's kernel: C99 for other hosts, Cython, or NumPy."""
    with errors_as_lines(json):
        from codegen.kernels.generate import write
        from codegen.options.option_text import from_words

        try:
            written = write(mechanism, target, output, from_words(option or []))
        except OSError as error:
            fail([f"--output {output}: {error.strerror}"], Exit.WRONG_INPUT, json)
    files = [str(path) for path in written]
    answer({"files": files}, lambda: say("\n".join(files)), json)


@app.command(epilog="Example: `rigloop model inverse arm.toml --at 1=0.5,2 --output arm`")
def inverse(
    chain: Annotated[
        Path,
        typer.Argument(
            help="Name or file of a mechanism that is a tree, or file of a serial chain.",
            readable=False,
        ),
    ],
    at: Annotated[
        list[str] | None,
        typer.Option(
            help="Motion at which torques are printed: `joint=angle,rate,acceleration`, such as "
            "`2=0.5,1,0`; repeatable. A joint of a mechanism has the name of its coordinate, a "
            "joint of a chain its number, from 1. Joints that are not given rest.",
        ),
    ] = None,
    target: Annotated[
        Literal["c99", "numpy"],
        typer.Option(help="`c99`: source and header without state; `numpy`: a plain module."),
    ] = "c99",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the source.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Print torques and base parameters of a tree or serial chain, and write its inverse dynamics."""
    from rigloop.model.inverse import inverse as invert
    from rigloop.model.inverse_view import show as show_inverse

    with errors_as_lines(json):
        found = invert(chain, at or [], target=target, output=output)
    answer(found, lambda: show_inverse(found, Screen()), json)


@app.command("import", epilog="Example: `rigloop model import robot.urdf -o robot.toml`")
def import_(
    file: Annotated[
        Path, typer.Argument(help="Robot file: URDF, or MJCF of MuJoCo.", readable=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Mechanism file to write; by default the robot's name with .toml.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option(help="Overwrite an existing file.")] = False,
    json: JsonOption = False,
) -> None:
    """Convert a robot file to a mechanism file, and list what was converted and what was not."""
    from rigloop.model.importing import import_mechanism

    console = Screen(stderr=json)
    with errors_as_lines(json):
        report = import_mechanism(file, output, force=force, console=console, quiet=json)
    if json:
        print_json(report)
