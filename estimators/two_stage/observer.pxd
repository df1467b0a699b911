"""The two-stage observer of a generated mechanism, as a block."""
from libc.stdint cimport int64_t

from estimators.two_stage.force_observer cimport ForceState
from estimators.two_stage.kinematic_observer cimport KinematicState
from estimators.numerics.observed_model cimport MOST_DOF, MOST_SENSORS
from estimators.closed_loop.model cimport ObserverModel
from estimators.ported_block cimport WiredBlock

cdef enum:
    MOST_CHANNELS = 8           # an encoder of each coordinate, and accelerometers
    MOST_CELLS = 96             # ports of either kind

cdef struct TwoStageState:
    KinematicState *kinematic   # NULL: the motion is read
    ForceState *force           # NULL: no forces
    ObserverModel *model
    int n, n_y, n_inputs, n_writes
    int64_t period_ns
    int64_t last_ns             # nominal time of the last cycle; -1: there was none
    int64_t n_periods           # since the start, lost ones too
    int64_t n_done              # periods and samples that were used: the work of the steps
    # of each sensor: the position it is (below n), or n + the acceleration; sample = scale * reading + offset
    int takes[MOST_CHANNELS]
    double scale[MOST_CHANNELS]
    double offset[MOST_CHANNELS]
    int64_t every[MOST_CHANNELS]
    # of each input: its number in the model, and of known forces theirs, or -1
    int input_of[MOST_CELLS]
    int known_of[MOST_CELLS]
    double position[MOST_DOF]
    double felt[MOST_SENSORS]
    double known[MOST_DOF]
    double motion[3 * MOST_DOF]
    double nis_low[MOST_CHANNELS + 1]
    double nis_high[MOST_CHANNELS + 1]
    const double *read[MOST_CELLS]
    double *write[MOST_CELLS]
    double idle[MOST_CELLS]
    double value[MOST_CELLS]

cdef class TwoStageObserver(WiredBlock):
    cdef TwoStageState state
    cdef readonly object model
    cdef readonly object kinematic
    cdef readonly object force
    cdef int _take_motion(self, info, settings) except -1
    cdef int _take_forces(self, info, settings) except -1
    cdef int _connect(self, info) except -1
