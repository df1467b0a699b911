"""The two-stage observer of a generated mechanism, as a block."""
from estimators.block cimport Cells, EstimatorBlock
from estimators.closed_loop.model cimport ObserverModel
from estimators.two_stage.force_observer cimport ForceState
from estimators.two_stage.kinematic_observer cimport KinematicState

cdef struct TwoStageState:
    Cells cells
    KinematicState *kinematic   # NULL: the motion is read
    ForceState *force           # NULL: no forces
    ObserverModel *model
    int n                       # freedoms
    int n_x                     # states of both stages
    int n_inputs
    int *takes                  # (n_sensors) the position that a sensor is (below n), or n + the acceleration
    int *input_of               # (n_inputs) number of an input in the model
    int *known_of               # (n_inputs) of a known force its number, else -1
    double *sample              # (n_sensors) positions, then accelerations
    double *known               # (n)
    double *motion              # (3 n)
    double *nis_low             # (2 n + 1) bounds of nis by the number of samples
    double *nis_high

cdef class TwoStageObserver(EstimatorBlock):
    cdef TwoStageState state
    cdef readonly object model
    cdef readonly object kinematic
    cdef readonly object force
    cdef int _take_motion(self, info, settings) except -1
    cdef int _take_forces(self, info, settings) except -1
