"""Observers of a closed-loop mechanism: how one is configured, wired and fed; a cycle of it is in `closed_loop.cycle`.

A filter is a subclass in a module of its own and brings `predict`, `correct` and `restart`, see `cycle.pxd`.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport NAN
from libc.stdint cimport int64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from estimators.closed_loop.cycle cimport (
    ObserverState, advance, catch_up, correct_fn, predict_fn, restart_fn, show,
)
from estimators.closed_loop.model cimport OBSERVER_ABI, ObserverModel
from estimators.numerics.arena cimport Arena, doubles, integers, places, pointers, reserve

import numpy as np

from estimators.closed_loop.observability import require_observable
from estimators.closed_loop.settings import filter_mistakes, port_mistakes, read_ports, write_ports


cdef int _step(void *self, int64_t t_ns) noexcept nogil:
    cdef ObserverState *s = <ObserverState *>self
    cdef const double *given
    cdef int i
    for i in range(s.n_u):
        given = s.read[2 * s.n_y + i]
        if given != NULL and given[0] == given[0]:
            s.model.u[i] = given[0]
    catch_up(s, t_ns)
    for i in range(s.n_y):
        s.sample[i] = NAN
        if s.n_periods % s.every[i] == 0 and s.read[s.n_y + i][0] == 1.0:
            s.sample[i] = s.scale[i] * s.read[i][0] + s.offset[i]
    s.n_periods += 1
    advance(s)
    for i in range(s.n_writes):
        s.write[i][0] = s.value[i]
    return s.status


cdef void _lay_out(ObserverState *s, Arena *arena) noexcept:
    # the arrays of ObserverState
    cdef size_t n = s.n, n_x = s.n_x, n_y = s.n_y
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
    s.meas_var = doubles(arena, n_y)
    s.slope = doubles(arena, n_y * n)
    s.reading = doubles(arena, n_y)
    s.ph = doubles(arena, n)
    s.gain = doubles(arena, n)
    # the largest of what filters need: of Joseph's form n^2 + n beside two or three squares; of the UKF a factor,
    # and rows of states and readings over its points and noises
    s.work = doubles(arena, 4 * n * n + 8 * n + (n + n_y) * (2 * n + n_y))
    s.innovation = doubles(arena, n_y)
    s.sample = doubles(arena, n_y)
    s.value = doubles(arena, s.n_writes)
    s.idle = doubles(arena, s.n_reads)
    s.nis_low = doubles(arena, n_y + 1)
    s.nis_high = doubles(arena, n_y + 1)
    s.scale = doubles(arena, n_y)
    s.offset = doubles(arena, n_y)
    s.n_refused = integers(arena, n_y)
    s.every = integers(arena, n_y)
    s.read = <const double **>pointers(arena, s.n_reads)
    s.write = <double **>pointers(arena, s.n_writes)
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
        keeps its last value.
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
    `docs/observers.md`; the names of the filters are those of the papers named there.
    """

    def __cinit__(self):
        self.memory = NULL

    def __dealloc__(self):
        free(self.memory)

    cdef bint is_dependent(self):
        # whether the state is [q, qd] instead of [z, zd, f]
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

    def __init__(self, str name, model, settings, *, reads=None, writes=None):
        cdef ObserverState *s = &self.state
        cdef ObserverModel *m = <ObserverModel *>PyCapsule_GetPointer(
            model.capsule(), b"rigloop.observer_model")
        cdef double[::1] density, sensor_var, start_var, scale, offset
        cdef double[:, ::1] bounds
        cdef int i
        if m.abi != OBSERVER_ABI or m.bytes != sizeof(ObserverModel):
            raise ValueError(f"observer {name}: the model is of another version, build it again")
        info = model.info
        reads, writes = dict(reads or {}), dict(writes or {})
        numbers = settings.numbers(info)
        wrong = port_mistakes(info, reads, writes) + filter_mistakes(info, self.is_dependent())
        if wrong:
            raise ValueError(f"observer {name}: " + "; ".join(wrong))
        require_observable(model.at, info, numbers.start)
        self.model, self.start = model, list(numbers.start)
        s.model = m
        s.step_ns = <int64_t>(1e9 * m.step_s + 0.5)
        s.n_x, s.n_y, s.n_u, s.step_s = <int>m.n_x, <int>m.n_y, <int>m.n_u, m.step_s
        s.n = 2 * <int>m.n_q if self.is_dependent() else s.n_x
        s.n_reads, s.n_writes = len(read_ports(info)), len(write_ports(info))
        s.is_exact = settings.transition == "exact"
        s.gate, s.patience = settings.gate_sigma ** 2, settings.gate_patience
        self._allocate()
        sensor_var, start_var, bounds = numbers.sensor_var, numbers.start_var, numbers.nis_bounds
        density = np.concatenate([numbers.acceleration_noise, numbers.input_noise])
        scale, offset = numbers.scale, numbers.offset
        for i in range(s.n_y):
            s.meas_var[i] = sensor_var[i]
            s.scale[i], s.offset[i], s.every[i] = scale[i], offset[i], numbers.every[i]
        for i in range(s.n_y + 1):
            s.nis_low[i], s.nis_high[i] = bounds[i, 0], bounds[i, 1]
        for i in range(s.n_x):
            s.start_var[i] = start_var[i]
        for i in range(density.shape[0]):
            s.density[i] = density[i]
        s.is_singular = self.is_dependent()
        self.attach()
        self.shape()
        self._connect()
        self.wire(name, reads, writes, read_ports(info), write_ports(info), s.read, s.write, _step, s)
        self.report(&s.n_done, sizeof(ObserverState))
        self.reset()

    cdef int _allocate(self) except -1:
        cdef Arena arena
        arena.memory, arena.used = NULL, 0
        _lay_out(&self.state, &arena)
        self.memory = reserve(&arena)
        _lay_out(&self.state, &arena)
        return 0

    cdef void _connect(self):
        # unconnected: no sample, always a new one, the input that the model has
        cdef ObserverState *s = &self.state
        cdef int i
        for i in range(s.n_y):
            s.idle[i] = NAN
            s.idle[s.n_y + i] = 1.0
            s.read[i] = &s.idle[i]
            s.read[s.n_y + i] = &s.idle[s.n_y + i]
        for i in range(s.n_writes):
            s.write[i] = &s.value[i]

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
        cdef int i, status
        if state.shape[0] != s.n_x:
            raise ValueError(f"observer {self.name}: {state.shape[0]} states given, {s.n_x} needed")
        s.n_rejected = s.n_repaired = s.n_periods = 0
        s.last_ns = -1
        s.used = 0
        s.nis = 0.0
        for i in range(s.n_y):
            s.n_refused[i] = 0
            s.innovation[i] = 0.0
        memcpy(s.cov, s.start_cov, s.n * s.n * sizeof(double))
        status = s.status = s.restart(s, &state[0])
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
    def cov(self):
        """Covariance of the filter's own state."""
        cdef int n = self.state.n
        return np.array([[self.state.cov[i * n + j] for j in range(n)] for i in range(n)])

    @property
    def proc_cov(self):
        """Process noise of one step, of the filter's own state."""
        cdef int n = self.state.n
        return np.array([[self.state.proc_cov[i * n + j] for j in range(n)] for i in range(n)])

    def run(self, const double[:, ::1] samples, inputs=None):
        """Advance over whole arrays, one cycle a row, as `step` would; ports and channels are left alone.

        Parameters
        ----------
        samples : ndarray of float64, shape (n, n_sensors)
            Readings; NaN where there is none.
        inputs : ndarray of float64, shape (n, n_inputs), optional
            Of the mechanism; NaN keeps the last one.

        Returns
        -------
        ndarray of float64, shape (n, n_ports)
            The outputs of each cycle, in the order of `write_ports`.

        Raises
        ------
        ValueError
            A shape is wrong.

        Real time
        ---------
        Not safe: allocates the result. The loop itself holds no GIL.
        """
        cdef ObserverState *s = &self.state
        cdef Py_ssize_t count = samples.shape[0], k
        cdef int i
        cdef double *value = s.value
        cdef double[:, ::1] out = np.empty((count, s.n_writes))
        cdef const double[:, ::1] fed = np.empty((0, s.n_u)) if inputs is None else inputs
        cdef bint is_fed = inputs is not None
        if samples.shape[1] != s.n_y or fed.shape[1] != s.n_u or (is_fed and fed.shape[0] != count):
            raise ValueError(
                f"observer {self.name}: samples need {s.n_y} columns, inputs {s.n_u} and as many rows")
        with nogil:
            for k in range(count):
                for i in range(s.n_y):
                    s.sample[i] = samples[k, i]
                if is_fed:
                    for i in range(s.n_u):
                        if fed[k, i] == fed[k, i]:
                            s.model.u[i] = fed[k, i]
                s.value = &out[k, 0]
                advance(s)
            s.value = value
        return np.asarray(out)


cdef class DependentObserver(Observer):
    """An observer whose own state is all coordinates and rates; its noise is for `restart` and `predict` to say."""

    cdef bint is_dependent(self):
        return True

    cdef void shape(self):
        cdef ObserverState *s = &self.state
        cdef int i, n_z = <int>s.model.n_z
        for i in range(n_z):
            s.place_of[i] = s.model.z[i]
            s.place_of[n_z + i] = <int>s.model.n_q + s.model.z[i]
