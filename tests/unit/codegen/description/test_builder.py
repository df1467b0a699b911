"""Mechanisms written in Python are those of the files."""

import re
import tomllib

import pytest

from codegen.description.builder import MechanismBuilder
from codegen.description.mechanism import MECHANISMS, MechanismError, load
from codegen.elements import registry
from codegen.kernels.generate import generate
from codegen.options.options import KernelOptions


def rebuilt(path):
    """A shipped file, table by table through the builder."""
    document = tomllib.loads(path.read_text())
    made = MechanismBuilder(document["name"], gravity_m_s2=document.get("gravity_m_s2"))
    for name, value in document.get("parameters", {}).items():
        made.parameter(name, value)
    for table, entries in document.items():
        if table in registry():
            for name, keys in entries.items():
                getattr(made, table)(name, **keys)
    for port, source in document["outputs"].items():
        made.output(port, source)
    return made


def text_of(mechanism):
    """Generated texts without the hashes of their source, and the marks made of them."""
    made = generate(mechanism, KernelOptions())
    texts = [*made.files.values(), made.reference]
    return re.sub(r"0x[0-9a-f]{15}|[0-9a-f]{64}", "", "".join(texts))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["guided_rod", "steering_rack"])
def test_builder_and_file_give_the_same_equations(tmp_path, name):
    path = MECHANISMS / f"{name}.toml"
    made = rebuilt(path)
    assert text_of(made.save(tmp_path)) == text_of(path)
    # and the same text, to the hash, by either way
    assert made.build().sha256 == load(made.save(tmp_path)).sha256


def test_builder_tells_all_mistakes_at_once():
    made = MechanismBuilder("wrong")
    made.point("P", position_m=[1, 0]).mass("P", point="Q", mass_kg=1.0)
    made.output("P/x_m", "P_x").output("R/x_m", "R_x")
    with pytest.raises(MechanismError) as caught:
        made.build()
    keys = {m.key for m in caught.value.mistakes}
    # P's own output is not a second mistake
    assert keys == {"point.P.position_m", "mass.P.point", "outputs.R/x_m"}


def test_an_unknown_element_is_told_with_the_near_ones():
    with pytest.raises(AttributeError, match="did you mean 'point'"):
        MechanismBuilder("m").pont("P")
    with pytest.raises(ValueError, match=r"angle\.a is there already"):
        MechanismBuilder("m").angle("a").angle("a")
    assert "revolute" in dir(MechanismBuilder("m"))
