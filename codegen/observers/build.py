"""Observer models on demand, compiled, proved and cached like kernels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from codegen.build import MODULE, BuiltKernel, build_module, load, load_reference
from codegen.description.mechanism import find
from codegen.observers.spec import ObserverSpec
from codegen.options import KernelOptions


def build_observer(
    mechanism: Path | str,
    spec: ObserverSpec,
    options: KernelOptions | None = None,
    *,
    on_stage: Callable[[str], None] | None = None,
) -> BuiltKernel:
    """Compiled observer model of a mechanism, from the cache when it has been built before.

    Parameters
    ----------
    mechanism : Path or str
        A mechanism file, or the name of one that ships.
    spec : ObserverSpec
        State, sensors and unknown inputs.
    options : KernelOptions, optional
        Of the ALI3-P kernel inside, and of the compiler.
    on_stage : callable, optional
        Told "generating", "compiling", "verifying".

    Returns
    -------
    BuiltKernel
        `module.Model()` is what filters take.

    Raises
    ------
    MechanismError
        The file or the specification has mistakes; all of them are listed.
    BuildError
        No compiler or Python headers, or the compiler fails.
    VerificationError
        A slope disagrees with the complex step, or the model with its NumPy twin.
    """
    options = options or KernelOptions()
    path = find(mechanism)
    parts = [b"observer", path.read_bytes(), spec.text().encode(), options.text().encode()]

    def fill(work: Path) -> None:
        from codegen.observers.text import texts

        for name, text in texts(path, spec, options).items():
            (work / name).write_text(text)

    def prove(work: Path) -> dict[str, Any]:
        from codegen.observers.verify import verify

        return dict(verify(load(work / f"{MODULE}.so"), load_reference(work / "reference.py")))

    return build_module(parts, options, fill, prove, on_stage=on_stage)
