"""A mechanism that a program steps offline: its compiled kernel and a state of its own, arrays in and arrays out."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from codegen.kernels.build import BuiltKernel, build_kernel
from codegen.options.options import KernelOptions
from rig_configs.mistakes import near
from rigloop.api.batch import Inputs, columns_of, refuse_where, rows_of, steps_of
from rigloop.api.columns import Columns
from rigloop.api.saved_state import pack, unpack

Array = NDArray[np.float64]
LINE = 64  # bytes of a cache line, on which the numbers of a state begin
FIXED: dict[str, Any] = {
    "wrapper": "procedural"
}  # a state that holds no address, so that its bytes can be kept


def mechanism(source: str | Path, **options: Any) -> Mechanism:
    """Build the kernel of a mechanism, or take it from the cache, and stand it at the pose of its file.

    Parameters
    ----------
    source : str or Path
        Name of a mechanism that ships, such as "four_bar", or a mechanism file.
    **options
        Of the kernel: `step_s`, `formulation`, `integrator`, …; see `codegen.options.options.KernelOptions`.

    Returns
    -------
    Mechanism

    Raises
    ------
    TypeError
        There is no such option.
    SettingsError, MechanismError
        Every mistake of the options, or of the file.
    BuildError, VerificationError
        The kernel cannot be compiled, or disagrees with its NumPy twin.

    Examples
    --------
    >>> import rigloop
    >>> four_bar = rigloop.mechanism("four_bar", step_s=5e-3)
    >>> motion = four_bar.run(steps=201)
    >>> round(float(motion["crank/rate_rad_s"][-1]), 2)
    -2.78
    >>> kept = four_bar.save()
    >>> ahead = four_bar.run(steps=100)["crank/angle_rad"]
    >>> four_bar.restore(kept)
    >>> bool((four_bar.run(steps=100)["crank/angle_rad"] == ahead).all())
    True
    """
    if not isinstance(source, str | Path):
        raise TypeError(
            f"source = {source!r:.60}: give the name of a mechanism, or the path of its file"
        )
    known = {field.name for field in dataclasses.fields(KernelOptions)} - FIXED.keys()
    for name in options:
        if name not in known:
            raise TypeError(f"mechanism() has no option {name!r}: {near(name, known)}")
    return Mechanism(build_kernel(source, KernelOptions(**options, **FIXED)))


class StepError(ArithmeticError):
    """A step failed; the mechanism stands where the last good one left it.

    Attributes
    ----------
    step : int
        Number of the failed step in this call, from 0.
    status : str
        "input_not_finite", "not_assembled", "not_converged", "not_finite" or "singular".
    motion : Columns
        Outputs of the good steps before it.
    """

    def __init__(self, words: str, step: int, status: str, motion: Columns) -> None:
        super().__init__(words)
        self.step, self.status, self.motion = step, status, motion


class Mechanism:
    """A compiled kernel and one state of it; made by `rigloop.mechanism`.

    A new mechanism has not moved: its first step assembles it where its guides are, at time 0, and all further ones
    advance by `step_s`.

    Attributes
    ----------
    name : str
    hash : str
        Of the kernel: over mechanism, generator, options, compiler and Python.
    step_s : float
    inputs : tuple of str
        Ports that `run` takes: position, rate and acceleration of each guide, then the input signals.
    outputs : tuple of str
        Ports that `run` returns.
    """

    def __init__(self, built: BuiltKernel) -> None:
        self._built, self._module = built, built.module
        self.info: dict[str, Any] = built.module.model_info()
        self.name: str = self.info["name"]
        self.hash = built.hash
        self.step_s: float = self.info["step_s"]
        self.inputs: tuple[str, ...] = tuple(self.info["reads"])
        n_guides = len(self.info["guides"])
        self._guides, self._signals = self.inputs[: 3 * n_guides], self.inputs[3 * n_guides :]
        (n_outputs,) = self.info["shapes"]["outputs"]
        self.outputs: tuple[str, ...] = tuple(self.info["writes"])[:n_outputs]
        self._cycles = 0
        self._state = _aligned(self._module.new_state())
        self._tried = self._module.new_state()

    def __repr__(self) -> str:
        return (
            f"<mechanism {self.name}, kernel {self.hash[:12]}, step {self.step_s:g} s, at "
            f"{self.time_s:g} s>"
        )

    @property
    def time_s(self) -> float:
        """Time of the last good step, s; 0 before the first and after `reset`."""
        return max(0, self._cycles - 1) * self.step_s

    def run(self, inputs: Inputs | None = None, steps: int | None = None) -> Columns:
        """Advance by one step for each row of the inputs.

        Parameters
        ----------
        inputs : mapping of str to array_like, shape (steps,) or ()
            Values by port, those at the end of each step. An input signal that is left out keeps its last value; of a
            guide all three ports are needed.
        steps : int, optional
            Needed where no input is an array.

        Returns
        -------
        Columns
            Outputs after each step.

        Raises
        ------
        StepError
            A step failed, with the outputs of those before it.
        KeyError
            There is no such port.
        ValueError
            Ports of a guide are missing, lengths differ, a value is not finite, or beyond the limits of its signal.
        """
        columns = columns_of({} if inputs is None else inputs, self.inputs, self.name)
        count = steps_of(columns, steps)
        if count == 0:
            return self._columns(np.empty((0, len(self.outputs))))
        missing = [port for port in self._guides if port not in columns]
        if missing:
            raise ValueError(
                f"{self.name}: {', '.join(missing)}: not given; a guide needs its position, rate and acceleration"
            )
        values = self._room(count)
        guide = rows_of(columns, self._guides, count)
        refuse_where(~np.isfinite(guide), guide, self._guides, "give a finite number")
        signals = self._signal_rows(columns, count)
        done = self._module.run(self._state, guide, values, count, signals)
        motion = self._columns(values[:done])
        self._cycles += done
        if done < count:
            health = self.health
            words = (
                f"{self.name}: step {done} of {count}, at {self._cycles * self.step_s:g} s: {health['status_name']}, "
                f"constraints violated by {health['residual']:.3g}; shorten step_s, or look at the inputs there"
            )
            raise StepError(words, done, health["status_name"], motion)
        return motion

    def step(self, inputs: Mapping[str, float] | None = None) -> dict[str, float]:
        """Advance by one step; return the outputs. It raises as `run` does."""
        motion = self.run(inputs, 1)
        return {port: float(motion[port][0]) for port in self.outputs}

    def reset(
        self,
        inputs: Mapping[str, float] | None = None,
        *,
        q: ArrayLike | None = None,
        qd: ArrayLike | None = None,
    ) -> None:
        """Assemble again at time 0; parameters and input signals keep their values.

        Parameters
        ----------
        inputs : mapping of str to float, optional
            Position, rate and acceleration of each guide, and input signals that change.
        q, qd : array_like of float64, shape (n_q,), optional
            Coordinates and rates from which it is assembled; those of the mechanism's file if not given.

        Raises
        ------
        StepError
            It cannot be assembled there.
        """
        columns = columns_of({} if inputs is None else inputs, self.inputs, self.name)
        if any(values.ndim for values in columns.values()):
            raise ValueError(f"{self.name}: reset takes one number for each input")
        guide = [float(columns[port]) for port in self._guides if port in columns]
        parameters, signals = dict(self.parameters), dict(self.signals)
        changed = {port: float(columns[port]) for port in self._signals if port in columns}
        # a new state: what a failed step has left is not assembled from
        state = _aligned(self._module.new_state())
        self._module.set_parameters(state, parameters)
        self._module.set_signals(state, signals | changed)
        status = self._module.reset(state, guide, q, qd)
        if status:
            name = self._module.health(state)["status_name"]
            words = f"{self.name}: cannot be assembled there: {name}"
            raise StepError(words, 0, name, self._columns(np.empty((0, len(self.outputs)))))
        self._state, self._cycles = state, 1

    @property
    def parameters(self) -> dict[str, float]:
        """Run-time parameters by path: set one, `m.parameters["uniform_rod/crank/mass_kg"] = 3.0`, or assign some."""
        return self._module.parameters(self._state)

    @parameters.setter
    def parameters(self, changes: Mapping[str, float]) -> None:
        self._module.set_parameters(self._state, changes)

    @property
    def signals(self) -> dict[str, float]:
        """Input signals as they are now, by port: set one, or assign some."""
        return self._module.signals(self._state)

    @signals.setter
    def signals(self, changes: Mapping[str, float]) -> None:
        self._module.set_signals(self._state, changes)

    @property
    def coordinates(self) -> dict[str, Array]:
        """All coordinates `q`, rates `qd`, accelerations `qdd` and multipliers `lam`, in the order of `info`."""
        found = self._module.coordinates(self._state)
        return dict(zip(("q", "qd", "qdd", "lam"), map(np.array, found), strict=True))

    @property
    def health(self) -> dict[str, Any]:
        """Status of the last step as number and word, iterations, residual, and counts of difficult steps."""
        return self._module.health(self._state)

    def copy(self) -> Mechanism:
        """Return another one of the same kernel in the same state; from then on each goes its own way."""
        other = Mechanism(self._built)
        other._state[:] = self._state
        other._cycles = self._cycles
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Mechanism:
        return self.copy()

    def __reduce__(self) -> Any:
        raise TypeError(
            f"{self.name}: a mechanism is not pickled: send the bytes of save() to another process, build the same "
            "mechanism there, and restore() them"
        )

    def save(self) -> bytes:
        """Return the state, parameters and input signals included, with the hash of the kernel that it belongs to."""
        return pack(self.name, self.hash, self._cycles, bytes(self._state))

    def restore(self, saved: bytes) -> None:
        """Take up a state that `save` returned; the next steps give the same bits as they did after it.

        Nothing in the bytes is run or unpickled, and none leads outside of the state.

        Raises
        ------
        StateError
            Damaged, or the state of another kernel.
        """
        cycles, state = unpack(saved, self.name, self.hash, len(self._state))
        taken = _aligned(state)
        self._module.health(taken)  # raises where it is not sound
        self._state, self._cycles = taken, cycles

    def _room(self, count: int) -> Array:
        try:
            return np.empty((count, len(self.outputs)))
        except (MemoryError, ValueError, OverflowError):
            raise ValueError(
                f"steps = {count}: the outputs of so many find no room in memory; run fewer at a time"
            ) from None

    def _columns(self, values: Array) -> Columns:
        t_s = np.arange(self._cycles, self._cycles + len(values), dtype=np.float64) * self.step_s
        return Columns(t_s, {port: values[:, i] for i, port in enumerate(self.outputs)})

    def _signal_rows(self, columns: Mapping[str, Array], steps: int) -> Array | None:
        given = [port for port in self._signals if port in columns]
        if not given:
            return None
        # limits are the kernel's, and tried on another state: of an array its extremes are enough
        for extreme in (np.min, np.max):
            tried = {port: float(extreme(columns[port])) for port in given}
            self._module.set_signals(self._tried, tried)
        held = {port: np.array(value) for port, value in self.signals.items()}
        return rows_of(held | dict(columns), self._signals, steps)


def _aligned(state: bytes | bytearray) -> NDArray[np.uint8]:
    # numbers of a state begin behind its mark, on a cache line of their own
    size = len(state)
    room = np.empty(size + 2 * LINE, np.uint8)
    begin = -(room.ctypes.data + 8) % LINE
    taken = room[begin : begin + size]
    taken[:] = np.frombuffer(state, np.uint8)
    return taken
