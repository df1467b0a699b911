"""No name of a mechanism file leaves the comment, string or identifier that it stands in."""

import ast
import subprocess
from dataclasses import replace

import pytest

from codegen.description.mechanism import MechanismError, load, parse
from codegen.description.outputs import Output
from codegen.kernels.build import build_kernel
from codegen.kernels.generate import generate, write
from codegen.observers.spec import ObserverSpec
from codegen.observers.text import texts as observer_texts
from codegen.options.options import KernelOptions
from codegen.targets import c99
from rig_configs.names import RESERVED

PENDULUM = """
gravity_m_s2 = [0, -9.81, 0]
[point.{point}]
position_m = [0.3, 0, 0]
moves = "xy"
[constant_distance.rod]
points = [[0, 0, 0], "{point}"]
[mass.ball]
point = "{point}"
mass_kg = 1.0
[outputs]
{output} = "{point}_x"
"""


def pendulum(point="P", output='"tip/x_m"'):
    return PENDULUM.format(point=point, output=output)


CANARY = "touched"
INJECTIONS = {
    "c": "a\\n#include <stdlib.h>\\n__attribute__((constructor)) static void f(void)"
    f'{{ system(\\"touch {CANARY}\\"); }}\\n// x_m',
    "c block": f'*/ int f(void) {{ return system(\\"touch {CANARY}\\"); }} /* x_m',
    "python": f"a\\n__import__('os').system('touch {CANARY}')\\n# x_m",
    "continued": "a\\\\\\\\_m",
    "escape": "a\\u001b]0;owned\\u0007_m",
    "direction": "a\\u202ex_m",
    "null": "a\\u0000x_m",
    "climbing": "../../x_m",
    "absolute": "/etc/x_m",
    "long": "a" * 2000 + "_m",
}


@pytest.mark.parametrize("injection", INJECTIONS.values(), ids=INJECTIONS)
def test_an_output_whose_name_is_no_signal_path_is_refused_and_nothing_runs(
    tmp_path, monkeypatch, injection
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "pendulum.toml"
    path.write_text(pendulum(output=f'"{injection}"'))
    with pytest.raises(MechanismError, match=r"path of a signal|longer than") as refused:
        build_kernel(path)
    assert len(refused.value.mistakes) == 1
    assert not list(tmp_path.rglob(CANARY))


@pytest.mark.parametrize(
    "hostile",
    [
        f'*/ void f(void) {{ system("touch {CANARY}"); }} /*_m',
        f"a\n#error {CANARY}\n_m",
        'a"""\nimport os\n"""_m',
        "a\\",
    ],
)
def test_a_name_that_came_past_the_door_stays_in_its_comment(tmp_path, hostile):
    model = parse(pendulum(), "pendulum.toml")
    rows = [replace(row, label=hostile) for row in model.system.rows]
    strange = replace(
        model,
        outputs=(Output(hostile, "value", 0),),
        name=hostile,
        system=replace(model.system, rows=rows),
    )
    made = generate(strange, KernelOptions())
    ast.parse(made.reference)
    names = {node.id for node in ast.walk(ast.parse(made.reference)) if isinstance(node, ast.Name)}
    assert "os" not in names
    for name, text in made.files.items():
        (tmp_path / name).write_text(text)
    check(tmp_path, "kernel.c", "gnu11")
    for path in write(strange, "c99", tmp_path / "c99"):
        if path.suffix == ".c":
            check(path.parent, path.name, "c99")


def check(folder, name, standard):
    done = subprocess.run(
        ["gcc", f"-std={standard}", "-fsyntax-only", "-w", name],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "word", ["int", "lambda", "self", "NULL", "main", "class", "cdef", "double"]
)
def test_reserved_words_are_refused_as_names(word):
    with pytest.raises(MechanismError, match="reserved word"):
        parse(pendulum(point=word), "pendulum.toml")
    with pytest.raises(MechanismError, match="reserved word"):
        parse(pendulum(), f"{word}.toml")


@pytest.mark.parametrize("name", ["ﬁ", "a b", "1a", "_a", "a" * 65, "q\u0308"])
def test_a_name_is_ascii_and_short(name):
    with pytest.raises(MechanismError):
        parse(pendulum().replace("[mass.ball]", f'[mass."{name}"]'), "pendulum.toml")


@pytest.mark.parametrize("stem", ['x"y', "x\ny", "x y", "a" * 65, "-x", "x$name"])
def test_the_name_of_a_file_is_a_name(stem):
    with pytest.raises(MechanismError, match="file's name"):
        parse(pendulum(), f"{stem}.toml")


@pytest.mark.slow
def test_names_of_the_generated_code_and_of_libraries_are_free_for_elements(tmp_path):
    """Such names are prefixed where they go, so they need no refusal."""
    for stem in ("printf", "Data", "kernel", "real", "state", "gamma", "x", "n", "d", "memset"):
        for path in write(parse(pendulum(), f"{stem}.toml"), "c99", tmp_path / stem):
            if path.suffix == ".c":
                check(path.parent, path.name, "c99")


def test_a_local_never_takes_the_number_of_a_coordinate(tmp_path):
    """An element `Q` whose length is measured beside a coordinate `length`."""
    body, _, outputs = pendulum().partition("[outputs]")
    text = (
        f"{body}[distance.length]\ninitial_m = 0.3\n[mass.slider]\ndistance = 'length'\nmass_kg = 1.0\n"
        "[spring_between.Q]\npoints = [[1, 0, 0], 'P']\nstiffness_n_per_m = 2.0\nrest_m = 0.1\n"
        f"[outputs]{outputs}"
    )
    model = parse(text, "pendulum.toml")
    for name, source in generate(model, KernelOptions()).files.items():
        (tmp_path / name).write_text(source)
    check(tmp_path, "kernel.c", "gnu11")


def test_two_coordinates_of_one_name_are_refused():
    text = pendulum().replace(
        "[mass.ball]", "[distance.P_x]\n[mass.m]\ndistance='P_x'\nmass_kg=1\n[mass.ball]"
    )
    with pytest.raises(MechanismError, match="P_x is there already"):
        parse(text, "pendulum.toml")


def test_an_output_does_not_take_a_port_that_every_kernel_has():
    with pytest.raises(MechanismError, match="every kernel has"):
        parse(pendulum(output='"status"'), "pendulum.toml")


def test_names_of_strings_in_c_come_back(tmp_path):
    model = parse(pendulum(), "pendulum.toml")
    texts = c99.texts(_program(model))
    assert '"tip/x_m",' in texts["pendulum.c"]


def _program(model):
    from codegen.kernels.generate import program

    return program(model, KernelOptions())


def test_a_sensor_of_an_observer_stays_in_its_comment():
    spec = ObserverSpec({"a\nimport os": {"kind": "encoder", "coordinate": "rod"}})
    try:
        made = observer_texts(load("guided_rod"), spec, KernelOptions())
    except MechanismError:
        return
    ast.parse(made["reference.py"])
    assert "\nimport os" not in made["reference.py"]


def test_reserved_words_cover_every_language():
    assert {"int", "lambda", "class", "cdef", "None", "template", "restrict", "NULL"} <= RESERVED


@pytest.mark.parametrize(
    "given",
    [
        {"cflags": ("-fplugin=./evil.so",)},
        {"cflags": ("-wrapper", "sh,-c,touch x")},
        {"cflags": ("@file",)},
        {"cflags": ("-Wl,-rpath,/tmp",)},
        {"cflags": ("-o", "elsewhere")},
        {"cflags": ("-B.",)},
        {"cflags": ("-specs=evil",)},
        {"cflags": ("-DX=system(0)",)},
        {"march": "native -fplugin=x"},
    ],
)
def test_no_flag_makes_the_compiler_run_or_write_something_else(given):
    with pytest.raises(ValueError, match=r"flag|march"):
        KernelOptions(**given)


def test_flags_of_code_generation_are_taken():
    KernelOptions(
        cflags=("-g", "-O2", "-fno-inline", "-DLOOPED", "-mtune=generic", "-falign-loops=32")
    )
