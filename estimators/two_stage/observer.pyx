"""The two-stage observer of a generated mechanism, as a block: kinematics first, forces second.

Stage 1 is `kinematic_observer`, stage 2 `force_observer`; stage 1 never sees stage 2. Either may be left out. A sample
that is missing, invalid or not due counts as none; periods that the loop lost are predicted over, twenty at most:
after more, the motion begins again with the next positions.
"""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.math cimport NAN
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from estimators.two_stage cimport force_observer
from estimators.two_stage cimport kinematic_observer
from estimators.two_stage.force_observer cimport ForceObserver
from estimators.two_stage.kinematic_observer cimport KinematicObserver
from estimators.closed_loop.cycle cimport MOST_LOST
from estimators.numerics.small_covariance cimport set_diagonal

import numpy as np

from estimators.numerics.chi_square import quantile
from estimators.two_stage.closed_loop_model import ClosedLoopModel, accelerometers
from estimators.closed_loop.settings import BOUND, Channel
from estimators.ported_block import wrong_ports
from estimators.two_stage.settings import (
    n_freedoms, split_forces, two_stage_reads, two_stage_writes, walk_std,
)


cdef void _advance(TwoStageState *s) noexcept nogil:
    # one period, with `position`, `felt`, `known`, and `motion` where it is read
    cdef int i, n = s.n
    if s.kinematic != NULL:
        kinematic_observer.observe(s.kinematic, s.position, s.felt)
        for i in range(3 * n):
            s.motion[i] = s.kinematic.x[i] if s.kinematic.tracking else NAN
    if s.force != NULL:
        force_observer.observe(s.force, s.motion, s.known)


cdef void _catch_up(TwoStageState *s, int64_t t_ns) noexcept nogil:
    cdef int64_t gap = (t_ns - s.last_ns) // s.period_ns - 1 if s.last_ns >= 0 else 0
    cdef int i, _period
    s.last_ns = t_ns
    if gap <= 0:
        return
    s.n_periods += gap
    for i in range(s.n):
        s.position[i] = s.known[i] = NAN
    for i in range(MOST_SENSORS):
        s.felt[i] = NAN
    for _period in range(<int>min(gap, <int64_t>MOST_LOST)):
        _advance(s)
    if gap > MOST_LOST:
        if s.kinematic != NULL:
            s.kinematic.tracking = False
            s.kinematic.n_resets += 1
        if s.force != NULL:
            s.force.has_motion = False
            set_diagonal(s.force.p, s.force.initial, 2 * s.n)
            s.force.n_resets += 1


cdef void _sample(TwoStageState *s) noexcept nogil:
    cdef int i, k, n_motion = 2 * s.n_y if s.kinematic != NULL else 3 * s.n
    cdef double sample
    for i in range(s.n_y):
        sample = NAN
        if s.n_periods % s.every[i] == 0 and s.read[s.n_y + i][0] == 1.0:
            sample = s.scale[i] * s.read[i][0] + s.offset[i]
        if s.takes[i] < s.n:
            s.position[s.takes[i]] = sample
        else:
            s.felt[s.takes[i] - s.n] = sample
    if s.kinematic == NULL:
        for i in range(3 * s.n):
            s.motion[i] = s.read[i][0]
    for k in range(s.n_inputs):
        if s.known_of[k] >= 0:
            s.known[s.known_of[k]] = s.read[n_motion + k][0]
        elif s.read[n_motion + k][0] == s.read[n_motion + k][0]:
            s.model.u[s.input_of[k]] = s.read[n_motion + k][0]


cdef void _show(TwoStageState *s) noexcept nogil:
    # order of `two_stage_writes`
    cdef int i, k = 0, n_motion = 3 * s.n if s.kinematic != NULL else 0
    cdef int n_force = 2 * s.n if s.force != NULL else 0, n = n_motion + n_force, used = 0
    cdef double nis = 0.0
    cdef int64_t rejected = 0, repaired = 0, guarded = 0
    for i in range(n_motion):
        s.value[i] = s.kinematic.x[i]
        s.value[n + i] = s.kinematic.p[i * n_motion + i]
    for i in range(n_force):
        s.value[n_motion + i] = s.force.x[i]
        s.value[n + n_motion + i] = s.force.p[i * n_force + i]
    if s.kinematic != NULL:
        nis, used = s.kinematic.nis, s.kinematic.gate.used
        rejected, repaired = s.kinematic.gate.n_rejected, s.kinematic.n_resets
        guarded = s.kinematic.n_guarded
    if s.force != NULL:
        nis, used = nis + s.force.nis, used + s.force.gate.used
        rejected, repaired = rejected + s.force.gate.n_rejected, repaired + s.force.n_resets
        guarded = guarded + s.force.n_guarded
    k = 2 * n
    s.value[k] = nis
    s.value[k + 1], s.value[k + 2] = s.nis_low[used], s.nis_high[used]
    s.value[k + 3] = used
    s.n_done += used
    s.value[k + 4], s.value[k + 5] = <double>rejected, <double>repaired
    s.value[k + 6] = <double>guarded
    s.value[k + 7] = 1.0 if (s.force.has_motion if s.force != NULL else s.kinematic.tracking) else 0.0


cdef int _step(void *self, int64_t t_ns) noexcept nogil:
    cdef TwoStageState *s = <TwoStageState *>self
    cdef int64_t before = s.n_periods
    cdef int i
    _catch_up(s, t_ns)
    _sample(s)
    s.n_periods += 1
    s.n_done += s.n_periods - before
    _advance(s)
    _show(s)
    for i in range(s.n_writes):
        s.write[i][0] = s.value[i]
    return 0


cdef class TwoStageObserver(WiredBlock):
    """Motion from positions and accelerations, then forces from the motion; a block.

    Parameters
    ----------
    name : str
        Name of the block.
    model : object
        `Model()` of a module from `codegen.observers.build`, its unknown inputs the known forces, then the
        unknown ones; it belongs to this observer from now on.
    settings : TwoStageSettings
        Noise, form and gates.
    reads, writes : mapping of str to str, optional
        Port to signal path, see `two_stage_reads` and `two_stage_writes`. A known force that is not connected has no
        samples.

    Attributes
    ----------
    kinematic, force : KinematicObserver, ForceObserver or None
        The stages.

    Raises
    ------
    ValueError
        A setting out of range, an unknown port, a model that it cannot take: all mistakes in one message.

    Real time
    ---------
    `step` is safe: no allocation, no Python, bounded loops; one position of the mechanism for each stage.

    Source
    ------
    Two-stage observer, ECCOMAS Multibody Dynamics 2015.
    """

    def __init__(self, str name, model, settings, *, reads=None, writes=None):
        cdef TwoStageState *s = &self.state
        info = model.info
        reads, writes = dict(reads or {}), dict(writes or {})
        read_ports, write_ports = two_stage_reads(info), two_stage_writes(info)
        wrong = settings.mistakes(info) + wrong_ports(reads, writes, read_ports, write_ports)
        if max(len(read_ports), len(write_ports)) > MOST_CELLS:
            wrong.append(f"{len(read_ports)} and {len(write_ports)} ports: at most {MOST_CELLS}")
        if wrong:
            raise ValueError(f"observer {name}: " + "; ".join(wrong))
        s.model = <ObserverModel *>PyCapsule_GetPointer(model.capsule(), b"rigloop.observer_model")
        s.n, s.n_y = n_freedoms(info), len(info["sensor_names"])
        s.period_ns, s.last_ns = <int64_t>(1e9 * s.model.step_s + 0.5), -1
        self.model = ClosedLoopModel(model)
        self._take_motion(info, settings)
        self._take_forces(info, settings)
        self._connect(info)
        self.wire(
            name, reads, writes, read_ports, write_ports, &s.read[0], &s.write[0], _step, s)
        self.report(&s.n_done, sizeof(TwoStageState))

    cdef int _take_motion(self, info, settings) except -1:
        cdef TwoStageState *s = &self.state
        cdef int i
        if s.n_y == 0:
            return 0
        sensors, rows, places = info["sensor_names"], accelerometers(info), info["sensor_places"]
        by_place = {place: name for name, place in zip(sensors, places)}
        self.kinematic = KinematicObserver(
            "stage 1", {f"position_{i}": "-" for i in range(s.n)}, {}, model=self.model,
            period_s=s.model.step_s,
            position_noise=[settings.sensor_std[by_place[i]] for i in range(s.n)],
            acceleration_noise=[settings.sensor_std[sensors[row]] for row in rows],
            least_sensitivity=settings.least_sensitivity, held_noise=settings.held_noise,
            gate_sigma=settings.gate_sigma, gate_patience=settings.gate_patience)
        s.kinematic = &(<KinematicObserver>self.kinematic).state
        for i, sensor in enumerate(sensors):
            channel = settings.channels.get(sensor, Channel())
            s.scale[i], s.offset[i], s.every[i] = channel.scale, channel.offset, channel.every
            s.takes[i] = places[i] if i not in rows else s.n + rows.index(i)
        return 0

    cdef int _take_forces(self, info, settings) except -1:
        cdef TwoStageState *s = &self.state
        known, unknown = split_forces(info)
        if not known:
            return 0
        solved, walking = (known, unknown) if settings.form == "A" else (unknown, known)
        ports = {port: "-" for part in ("z", "zd", "zdd") for port in (f"{part}_{i}" for i in range(s.n))}
        self.force = ForceObserver(
            "stage 2", ports, {}, model=self.model, form=settings.form,
            known_noise=[settings.known_std[path] for path in known],
            balance_noise=[settings.balance_std[path] for path in solved],
            walk_noise=[walk_std(settings.input_noise[path], s.model.step_s) for path in walking],
            gate_sigma=settings.gate_sigma, gate_patience=settings.gate_patience)
        s.force = &(<ForceObserver>self.force).state
        return 0

    cdef int _connect(self, info) except -1:
        # unconnected: no sample, always a new one, the input that the model has
        cdef TwoStageState *s = &self.state
        cdef int i, k
        ports, inputs = two_stage_reads(info), list(info["inputs"])
        known = [f"input/{path}" for path in split_forces(info)[0]]
        k = 0
        for i, port in enumerate(ports):
            s.idle[i] = 1.0 if s.n_y <= i < 2 * s.n_y else NAN
            s.read[i] = &s.idle[i]
            if port in inputs:
                s.input_of[k] = inputs.index(port)
                s.known_of[k] = known.index(port) if port in known else -1
                k += 1
        s.n_inputs, s.n_writes = k, len(two_stage_writes(info))
        for i in range(s.n_writes):
            s.write[i] = &s.value[i]
        for i in range(MOST_DOF):
            s.position[i] = s.known[i] = NAN
        for i in range(1, MOST_CHANNELS + 1):
            s.nis_low[i] = quantile((1.0 - BOUND) / 2.0, i)
            s.nis_high[i] = quantile((1.0 + BOUND) / 2.0, i)
        return 0

    def run(self, const double[:, ::1] samples, known=None):
        """Advance over whole arrays, one cycle a row, as `step` would; ports and channels are left alone.

        Parameters
        ----------
        samples : ndarray of float64, shape (n_cycles, n_sensors) or (n_cycles, 3 n)
            Readings, NaN where there is none; without sensors the motion: z, zd, zdd.
        known : ndarray of float64, shape (n_cycles, n), optional
            Known forces, NaN where they are not measured.

        Returns
        -------
        ndarray of float64, shape (n_cycles, n_ports)
            The outputs of each cycle, in the order of `two_stage_writes`.

        Raises
        ------
        ValueError
            A shape is wrong.

        Real time
        ---------
        Not safe: allocates the result. The loop itself holds no GIL.
        """
        cdef TwoStageState *s = &self.state
        cdef Py_ssize_t count = samples.shape[0], k
        cdef int i, columns = s.n_y if s.kinematic != NULL else 3 * s.n
        cdef const double[:, ::1] given = np.full((count, s.n), NAN) if known is None else known
        cdef double[:, ::1] out = np.empty((count, s.n_writes))
        if samples.shape[1] != columns or given.shape[0] != count or given.shape[1] != s.n:
            raise ValueError(
                f"observer {self.name}: samples need {columns} columns, known forces {s.n} and as many rows")
        with nogil:
            for k in range(count):
                for i in range(s.n_y):
                    if s.takes[i] < s.n:
                        s.position[s.takes[i]] = samples[k, i]
                    else:
                        s.felt[s.takes[i] - s.n] = samples[k, i]
                if s.kinematic == NULL:
                    for i in range(columns):
                        s.motion[i] = samples[k, i]
                for i in range(s.n):
                    s.known[i] = given[k, i]
                _advance(s)
                _show(s)
                memcpy(&out[k, 0], s.value, s.n_writes * sizeof(double))
        return np.asarray(out)
