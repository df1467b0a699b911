"""Observers of a closed-loop mechanism: how one is configured, wired and fed; a cycle of it is in `closed_loop.cycle`.

A filter is a subclass in a module of its own and brings `predict`, `correct` and `restart`, see `cycle.pxd`.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy, memset

from estimators.block cimport lay_out_cells
from estimators.closed_loop.cycle cimport (
    ObserverState, advance, correct_fn, find_slopes, forget, predict_fn, restart_fn, show,
)
from estimators.closed_loop.model cimport ObserverModel, observer_model
from estimators.numerics.arena cimport Arena, doubles, integers, places

import numpy as np

from estimators.closed_loop.fast_modes import require_slow
from estimators.closed_loop.observability import require_observable
from estimators.closed_loop.settings import filter_mistakes, port_mistakes, read_ports, write_ports


cdef void _lay_out(void *state, Arena *arena) noexcept:
    cdef ObserverState *s = <ObserverState *>state
    cdef size_t n = s.n, n_x = s.n_x, n_y = s.n_y
    lay_out_cells(&s.cells, arena)
    s.x = doubles(arena, n)
    s.x_before = doubles(arena, n)
    s.dx = doubles(arena, n)
    s.cov = doubles(arena, n * n)
    s.cov_before = doubles(arena, n * n)
    s.start_cov = doubles(arena, n * n)
    s.proc_cov = doubles(arena, n * n)
    s.density = doubles(arena, n_x)
    s.start_var = doubles(arena, n_x)
    s.transition = doubles(arena, n * n)
    s.slopes = doubles(arena, n * n)
    s.flow = doubles(arena, n * n)
    s.moved = doubles(arena, n)
    s.rate_noise = doubles(arena, n)
    s.meas_var = doubles(arena, n_y)
    s.slope = doubles(arena, n_y * n)
    s.reading = doubles(arena, n_y)
    s.ph = doubles(arena, n)
    s.gain = doubles(arena, n)
    # the largest of what filters need: of a row n^2 + 3 n, or two or three squares and more; of the UKF a factor,
    # and rows of states and readings over its points and noises
    s.work = doubles(arena, 4 * n * n + 8 * n + (n + n_y) * (2 * n + n_y))
    s.innovation = doubles(arena, n_y)
    s.nis_low = doubles(arena, n_y + 1)
    s.nis_high = doubles(arena, n_y + 1)
    s.first_refused = doubles(arena, n_y)
    s.n_agreed = integers(arena, n_y)
    s.gate.n_refused = integers(arena, n_y)
    s.place_of = places(arena, n_x)


cdef class Observer:
    """An observer of a mechanism; a block. Take one of its kinds, see `estimators.closed_loop.catalogue`.

    Parameters
    ----------
    name : str
        Name of the block.
    model : object
        `Model()` of a module from `codegen.observers.build`; it belongs to this observer from now on.
    settings : ObserverSettings
        Noise, start and gates.
    reads : mapping of str to str, optional
        Port to signal path. `<sensor>`: its newest reading; `<sensor>/valid`: 1 when that is a new
        sample (optional, else every cycle has one); inputs of the mechanism. A sensor that is not
        connected has no samples. A reading that is NaN is not a sample, and an input that is NaN
        keeps its last value. `run` takes samples of the sensors, then inputs.
    writes : mapping of str to str, optional
        Port to signal path, any of `write_ports`: every state, its unit last; `variance/<state>`, in
        that unit squared; `innovation/<sensor>`; `nis`, its 95 % bounds `nis_low` and `nis_high` for the samples of
        this cycle, `used`; `rejected`, `repaired` since the start; `status`.

    Raises
    ------
    ValueError
        A setting out of range, an unknown port, a model that this filter cannot take: all mistakes
        in one message.
    UnobservableError
        An unknown input that the sensors cannot determine.

    Real time
    ---------
    `step` is safe: no allocation, no Python, bounded loops.

    Source
    ------
    `docs/models/observers.md`; the names of the filters are those of the papers named there.
    """

    # whether the state is [q, qd] instead of [z, zd, f]; whether its step can be the exact one of the slopes; whether
    # it is implicit
    dependent = False
    discretises = False
    implicit = False

    cdef bint is_dependent(self):
        return False

    cdef void attach(self):
        # hand predict, correct and restart to `take`
        pass

    cdef void take(self, predict_fn predict, correct_fn correct, restart_fn restart):
        self.state.predict = predict
        self.state.correct = correct
        self.state.restart = restart

    cdef void shape(self):
        # where states are, covariance of the start, process noise of a step: white acceleration, integrated over it
        cdef ObserverState *s = &self.state
        cdef int i, n = s.n_x, half = <int>s.model.n_z
        cdef double h = s.step_s
        cdef double *density = s.density
        for i in range(n):
            s.place_of[i] = i
            s.start_cov[i * n + i] = s.start_var[i]
        for i in range(half):
            s.proc_cov[i * n + i] = density[i] * h * h * h / 3.0
            s.proc_cov[i * n + half + i] = density[i] * h * h / 2.0
            s.proc_cov[(half + i) * n + i] = density[i] * h * h / 2.0
            s.proc_cov[(half + i) * n + half + i] = density[i] * h
        for i in range(2 * half, n):
            s.proc_cov[i * n + i] = density[i - half] * h
        for i in range(half, n):
            s.rate_noise[i] = density[i - half]

    def __init__(self, str name, model, settings, *, reads=None, writes=None):
        cdef ObserverState *s = &self.state
        cdef ObserverModel *m = observer_model(model)
        cdef double[::1] density
        cdef int i
        info = model.info
        ports = (dict(reads or {}), dict(writes or {}), read_ports(info), write_ports(info))
        numbers = settings.numbers(info)
        wrong = port_mistakes(info, ports[0], ports[1])
        wrong += filter_mistakes(info, type(self), settings.transition)
        if wrong:
            raise ValueError(f"observer {name}: " + "; ".join(wrong))
        if settings.transition not in ("discrete", "held") and not self.implicit:
            require_slow(model.at, info, numbers.start, m.step_s)
        require_observable(model.at, info, numbers.start)
        self.model, self.start = model, list(numbers.start)
        s.model = m
        s.cells.period_ns, s.cells.forget = <int64_t>(1e9 * m.step_s + 0.5), forget
        s.n_x, s.n_y, s.n_u, s.step_s = <int>m.n_x, <int>m.n_y, <int>m.n_u, m.step_s
        s.n = s.cells.n = 2 * <int>m.n_q if self.is_dependent() else s.n_x
        s.cells.n_sensors = s.n_y
        s.is_exact = settings.transition != "published"
        s.is_discrete, s.is_held = settings.transition in ("discrete", "held"), settings.transition == "held"
        s.gate.limit, s.gate.patience = settings.gate_sigma ** 2, settings.gate_patience
        self.wire(
            name, ports, {"samples": s.n_y, "inputs": s.n_u}, &s.cells, sizeof(ObserverState), _lay_out, advance)
        self.set_channels(numbers.channels)
        s.cells.cov = s.cov
        density = np.concatenate([numbers.acceleration_noise, numbers.input_noise])
        for i in range(s.n_y):
            s.meas_var[i] = numbers.sensor_var[i]
        for i, (low, high) in enumerate(numbers.nis_bounds):
            s.nis_low[i], s.nis_high[i] = low, high
        for i in range(s.n_x):
            s.start_var[i] = numbers.start_var[i]
        for i in range(density.shape[0]):
            s.density[i] = density[i]
        s.is_singular = self.is_dependent()
        self.attach()
        self.shape()
        self.reset()

    def reset(self, x=None):
        """Begin at a state of the model, or at the start of the settings; covariance as at the start.

        Raises
        ------
        ValueError
            The mechanism cannot be put together there.

        Real time
        ---------
        Not safe: builds lists.
        """
        cdef ObserverState *s = &self.state
        cdef double[::1] state = np.array(self.start if x is None else x, dtype=np.float64)
        cdef int status
        if state.shape[0] != s.n_x:
            raise ValueError(f"observer {self.name}: {state.shape[0]} states given, {s.n_x} needed")
        s.gate.n_rejected = s.n_repaired = s.cells.n_periods = 0
        s.cells.last_ns = -1
        s.gate.used = 0
        s.nis = 0.0
        memset(s.gate.n_refused, 0, s.n_y * sizeof(int64_t))
        memset(s.n_agreed, 0, s.n_y * sizeof(int64_t))
        memset(s.innovation, 0, s.n_y * sizeof(double))
        memcpy(s.cov, s.start_cov, s.n * s.n * sizeof(double))
        s.has_slopes = False
        status = s.status = s.restart(s, &state[0])
        if status == 0 and s.is_held:
            status = s.status = find_slopes(s)
        if status != 0:
            raise ValueError(
                f"observer {self.name}: no position at {np.asarray(state).tolist()} (status {status}); "
                f"start nearer to the pose of the mechanism's file")
        memcpy(s.x_before, s.x, s.n * sizeof(double))
        memcpy(s.cov_before, s.cov, s.n * s.n * sizeof(double))
        show(s)

    @property
    def x(self):
        """States of the model."""
        return np.array([self.state.x[self.state.place_of[i]] for i in range(self.state.n_x)])

    @property
    def proc_cov(self):
        """Process noise of one step, of the filter's own state."""
        cdef int n = self.state.n
        return np.array([[self.state.proc_cov[i * n + j] for j in range(n)] for i in range(n)])


cdef class DependentObserver(Observer):
    """An observer whose own state is all coordinates and rates; its noise is for `restart` and `predict` to say."""

    dependent = True

    cdef bint is_dependent(self):
        return True

    cdef void shape(self):
        cdef ObserverState *s = &self.state
        cdef int i, n_z = <int>s.model.n_z
        for i in range(n_z):
            s.place_of[i] = s.model.z[i]
            s.place_of[n_z + i] = <int>s.model.n_q + s.model.z[i]
