"""The two-stage observer of a generated mechanism, as a block: kinematics first, forces second.

Stage 1 is `kinematic_observer`, stage 2 `force_observer`; stage 1 never sees stage 2. Either may be left out. A sample
that is missing, invalid or not due counts as none; periods that the loop lost are predicted over, twenty at most:
after more, the motion begins again with the next positions.
"""
from libc.math cimport NAN
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from estimators.block cimport lay_out_cells
from estimators.closed_loop.model cimport observer_model
from estimators.numerics.arena cimport Arena, doubles, places
from estimators.numerics.estimate cimport Estimate, begin_again
from estimators.two_stage cimport force_observer
from estimators.two_stage cimport kinematic_observer
from estimators.two_stage.force_observer cimport ForceObserver
from estimators.two_stage.kinematic_observer cimport KinematicObserver

from estimators.numerics.chi_square import bounds_of_sums
from estimators.two_stage.closed_loop_model import ClosedLoopModel, accelerometers
from estimators.two_stage.settings import (
    n_freedoms, split_forces, two_stage_reads, two_stage_writes, walk_std,
)
from estimators.two_stage.stages import ForceSettings, KinematicSettings
from rt_core.block import wrong_ports


cdef void _lay_out(void *state, Arena *arena) noexcept:
    cdef TwoStageState *s = <TwoStageState *>state
    lay_out_cells(&s.cells, arena)
    s.takes = places(arena, s.cells.n_sensors)
    s.input_of = places(arena, s.n_inputs)
    s.known_of = places(arena, s.n_inputs)
    s.sample = doubles(arena, max(s.cells.n_sensors, s.n))
    s.known = doubles(arena, s.n)
    s.motion = doubles(arena, 3 * s.n)
    s.nis_low = doubles(arena, 2 * s.n + 1)
    s.nis_high = doubles(arena, 2 * s.n + 1)


cdef void _take(TwoStageState *s) noexcept nogil:
    # what is given, where the stages look for it; nothing is measured in a lost period
    cdef const double *given = s.cells.given
    cdef const double *inputs = given + (s.cells.n_sensors if s.kinematic != NULL else 3 * s.n)
    cdef int i
    for i in range(s.cells.n_sensors):
        s.sample[s.takes[i]] = given[i]
    if s.kinematic == NULL and not s.cells.is_lost:
        memcpy(s.motion, given, 3 * s.n * sizeof(double))
    for i in range(s.n_inputs):
        if s.known_of[i] >= 0:
            s.known[s.known_of[i]] = NAN if s.cells.is_lost else inputs[i]
        elif inputs[i] == inputs[i] and not s.cells.is_lost:
            s.model.u[s.input_of[i]] = inputs[i]


cdef int _show(const Estimate *e, double *x, double *variance, double *counts) noexcept nogil:
    # of one stage, its counts added to those of the other; returns how many states it has
    cdef int i
    memcpy(x, e.x, e.n * sizeof(double))
    for i in range(e.n):
        variance[i] = e.cov[i * e.n + i]
    counts[0] += e.nis
    counts[3] += e.gate.used
    counts[4] += <double>e.gate.n_rejected
    counts[5] += <double>e.n_repaired
    return e.n


cdef int _advance(void *state) noexcept nogil:
    # one period; values in the order of `two_stage_writes`
    cdef TwoStageState *s = <TwoStageState *>state
    cdef double *x = s.cells.value
    cdef double *variance = x + s.n_x
    cdef double *counts = variance + s.n_x
    cdef int i, n = 0
    for i in range(8):
        counts[i] = 0.0
    _take(s)
    if s.kinematic != NULL:
        kinematic_observer.observe(s.kinematic, s.sample, s.sample + s.n)
        for i in range(3 * s.n):
            s.motion[i] = s.kinematic.estimate.x[i] if s.kinematic.tracking else NAN
        n = _show(&s.kinematic.estimate, x, variance, counts)
        counts[6] = <double>s.kinematic.n_guarded
        counts[7] = s.kinematic.tracking
    if s.force != NULL:
        force_observer.observe(s.force, s.motion, s.known)
        _show(&s.force.estimate, x + n, variance + n, counts)
        counts[6] += <double>s.force.n_guarded
        counts[7] = s.force.has_motion
    counts[1], counts[2] = s.nis_low[<int>counts[3]], s.nis_high[<int>counts[3]]
    s.cells.n_done += 1 + <int64_t>counts[3]
    return 0


cdef void _forget(void *state) noexcept nogil:
    # the motion begins again with the next positions
    cdef TwoStageState *s = <TwoStageState *>state
    if s.kinematic != NULL:
        s.kinematic.tracking = False
        s.kinematic.estimate.n_repaired += 1
    if s.force != NULL:
        s.force.has_motion = False
        begin_again(&s.force.estimate)
        s.force.estimate.n_repaired += 1


cdef class TwoStageObserver(EstimatorBlock):
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
        samples. `run` takes the readings of the sensors, or the motion (z, zd, zdd), then the inputs.

    Attributes
    ----------
    kinematic, force : KinematicObserver, ForceObserver or None
        The stages; each has a `covariance`, the whole has none.

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
        cdef int i
        info = model.info
        ports = (dict(reads or {}), dict(writes or {}), two_stage_reads(info), two_stage_writes(info))
        settings.require_fit(info)
        wrong = wrong_ports(ports)
        if wrong:
            raise ValueError(f"observer {name}: " + "; ".join(wrong))
        s.model = observer_model(model)
        sensors, inputs = info["sensor_names"], [port for port in ports[2] if port in info["inputs"]]
        s.n, s.n_inputs, s.cells.n_sensors = n_freedoms(info), len(inputs), len(sensors)
        s.n_x = (3 * s.n if sensors else 0) + len(info["unknown"])
        s.cells.period_ns, s.cells.forget = <int64_t>(1e9 * s.model.step_s + 0.5), _forget
        parts = {"samples": len(sensors) or 3 * s.n, "inputs": s.n_inputs}
        self.wire(name, ports, parts, &s.cells, sizeof(TwoStageState), _lay_out, _advance)
        self.set_channels(settings.channels_of(info))
        self.model = ClosedLoopModel(model)
        self._take_motion(info, settings)
        self._take_forces(info, settings)
        known = [f"input/{path}" for path in split_forces(info)[0]]
        for i, port in enumerate(inputs):
            s.input_of[i] = info["inputs"].index(port)
            s.known_of[i] = known.index(port) if port in known else -1
        for i in range(s.n):
            s.known[i] = NAN
        for i, (low, high) in enumerate(bounds_of_sums(2 * s.n)):
            s.nis_low[i], s.nis_high[i] = low, high

    cdef int _take_motion(self, info, settings) except -1:
        cdef TwoStageState *s = &self.state
        cdef int i
        sensors, rows, at = info["sensor_names"], accelerometers(info), info["sensor_places"]
        if not sensors:
            return 0
        by_place = dict(zip(at, sensors))
        self.kinematic = KinematicObserver(
            "stage 1", self.model, KinematicSettings(
                period_s=s.model.step_s,
                position_noise=[settings.sensor_std[by_place[i]] for i in range(s.n)],
                acceleration_noise=[settings.sensor_std[sensors[row]] for row in rows],
                least_sensitivity=settings.least_sensitivity, held_noise=settings.held_noise,
                gate_sigma=settings.gate_sigma, gate_patience=settings.gate_patience),
            reads={f"position_{i}": "-" for i in range(s.n)})
        s.kinematic = &(<KinematicObserver>self.kinematic).state
        for i in range(s.cells.n_sensors):
            s.takes[i] = at[i] if i not in rows else s.n + rows.index(i)
        return 0

    cdef int _take_forces(self, info, settings) except -1:
        cdef TwoStageState *s = &self.state
        known, unknown = split_forces(info)
        if not known:
            return 0
        solved, walking = (known, unknown) if settings.form == "A" else (unknown, known)
        ports = {port: "-" for part in ("z", "zd", "zdd") for port in (f"{part}_{i}" for i in range(s.n))}
        self.force = ForceObserver(
            "stage 2", self.model, ForceSettings(
                form=settings.form,
                known_noise=[settings.known_std[path] for path in known],
                balance_noise=[settings.balance_std[path] for path in solved],
                walk_noise=[walk_std(settings.input_noise[path], s.model.step_s) for path in walking],
                gate_sigma=settings.gate_sigma, gate_patience=settings.gate_patience),
            reads=ports)
        s.force = &(<ForceObserver>self.force).state
        return 0
