"""What no line of the project does: run text, unpickle, start a shell, or print a foreign name as it is."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("rt_core", "codegen", "estimators", "io_bridge", "rig_configs", "rigloop")
SOURCES = sorted(
    path for room in (*ROOMS, "benchmarks", "examples") for path in (ROOT / room).rglob("*.py")
)
TEMPLATES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.in"))
CYTHON = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.pyx"))
NUMBERS = tuple("gfdeEx%Fn")


def name(node: ast.expr) -> str:
    """Dotted name of what is called."""
    if isinstance(node, ast.Attribute):
        return f"{name(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def calls(path: Path):
    return [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Call)]


def keyword(call: ast.Call, key: str):
    return next((ast.unparse(k.value) for k in call.keywords if k.arg == key), None)


FORBIDDEN = {
    "eval", "exec", "compile", "__import__", "os.system", "os.popen", "pickle.load", "pickle.loads",
    "marshal.load", "marshal.loads", "shelve.open", "yaml.load", "subprocess.getoutput",
    "subprocess.getstatusoutput", "tempfile.mktemp", "sys.setrecursionlimit",
}  # fmt: skip
PICKLERS = ("pickle", "marshal", "shelve", "dill")
PARSERS = ("parse", "fromstring", "iterparse", "XMLParser", "XML", "minidom", "sax")


def place(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{node.lineno}"


def test_nothing_runs_text_or_unpickles():
    wrong = []
    for path in SOURCES:
        for call in calls(path):
            called, here = name(call.func), place(path, call)
            if called in FORBIDDEN or called.split(".")[0] in PICKLERS:
                wrong.append(f"{here}: {called}")
            if keyword(call, "shell") not in (None, "False"):
                wrong.append(f"{here}: shell=")
            if keyword(call, "allow_pickle") not in (None, "False"):
                wrong.append(f"{here}: allow_pickle=")
            if called == "np.load" and keyword(call, "allow_pickle") != "False":
                wrong.append(f"{here}: np.load without allow_pickle=False")
            if called.endswith("Environment") and keyword(call, "autoescape") in (None, "False"):
                wrong.append(f"{here}: templates without autoescape")
    assert not wrong


def test_no_template_or_module_runs_text():
    wrong = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in (*TEMPLATES, *CYTHON)
        for word in (" eval(", " exec(", "pickle", "os.system", " system(", "popen(")
        if word in path.read_text()
    ]
    assert not wrong


def test_xml_is_read_with_its_bombs_defused():
    """Elements may be imported from the standard library, parsers may not."""
    wrong = [
        f"{place(path, node)}: {alias.name}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("xml.")
        for alias in node.names
        if alias.name in PARSERS
    ]
    assert not wrong


SCREENS = [p for p in sorted((ROOT / "rigloop").rglob("*.py")) if p.name != "screen.py"]


def test_one_module_makes_screens_and_prints():
    wrong = [
        f"{place(path, call)}: {name(call.func)}"
        for path in SCREENS
        for call in calls(path)
        if name(call.func) in ("Console", "rich.print", "print", "typer.echo", "click.echo")
        and keyword(call, "file") != "io.StringIO()"
    ]
    assert not wrong, "take rigloop.console.screen.Screen or say"


def is_plain(node: ast.expr) -> bool:
    """Whether a part of a printed f-string cannot carry markup: numbers, or passed through `escape`."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.JoinedStr):
        return all(map(is_plain, node.values))
    if isinstance(node, ast.FormattedValue):
        spec = node.format_spec
        words = spec.values if isinstance(spec, ast.JoinedStr) else []
        ending = "".join(str(w.value) for w in words if isinstance(w, ast.Constant))[-1:]
        return ending in NUMBERS or is_plain(node.value)
    if isinstance(node, ast.Call):
        return name(node.func).split(".")[-1] in ("escape", "len", "int", "_level")
    if isinstance(node, ast.IfExp):
        return is_plain(node.body) and is_plain(node.orelse)
    if isinstance(node, ast.BoolOp):
        return all(map(is_plain, node.values))
    # a local that holds words of the program, or what has been through `escape`
    return isinstance(node, ast.Name) and node.id in MADE


MADE = {"words", "freedoms", "said", "verdict", "told", "colour", "overruns", "memory", "lost"}


def test_a_foreign_name_is_escaped_before_it_is_printed_with_markup():
    wrong = [
        f"{place(path, call)}: {ast.unparse(part)}"
        for path in SCREENS
        for call in calls(path)
        if name(call.func).endswith(".print") and keyword(call, "markup") != "False"
        for part in call.args
        if isinstance(part, ast.JoinedStr) and not is_plain(part)
    ]
    assert not wrong, "pass it through rich.markup.escape, or print with markup=False"
