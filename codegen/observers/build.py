"""Observer models on demand, compiled, proved and cached like kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from codegen.kernels.build import BuiltKernel, build_module
from codegen.observers.spec import ObserverSpec
from codegen.options.options import KernelOptions


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
    spec : ObserverSpec
        State, sensors and unknown inputs.
    mechanism, options, on_stage
        As of `codegen.kernels.build.build_kernel`; the kernel inside is of one of `spec.FORMULATIONS`.

    Returns
    -------
    BuiltKernel
        Filters take `module.Model()`.

    Raises
    ------
    MechanismError
        The file or the specification has mistakes; all of them are listed.
    BuildError
        No compiler or Python headers, or the compiler fails.
    VerificationError
        A slope disagrees with the complex step, or the model with its NumPy twin.
    """
    return build_module(mechanism, options, _Model(spec), on_stage=on_stage)


class _Model:
    def __init__(self, spec: ObserverSpec) -> None:
        self.spec = spec
        self.given = ("observer", spec.text())

    def texts(self, path: Path, options: KernelOptions) -> Mapping[str, str]:
        from codegen.observers.text import texts

        return texts(path, self.spec, options)

    def prove(
        self, path: Path, options: KernelOptions, module: ModuleType, twin: ModuleType, work: Path
    ) -> Mapping[str, Any]:
        from codegen.observers.verify import verify

        return verify(module, twin)
