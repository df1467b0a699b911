"""A servo drive with several motors behind one slave controller: the objects of axis n are 0x800 n further on, its
PDOs 0x10 n (ETG.6010)."""
from libc.stdint cimport int64_t

from io_bridge.emulator.drive.device cimport (
    drive_advance, drive_changed, drive_fail, drive_find, drive_make, drive_outputs, drive_powered,
)

from io_bridge.slaves.drive_config import SIMULATED_IDENTITY, DrivePlant
from io_bridge.emulator.drive.objects import AXIS_OBJECTS, drive_description


cdef void powered(void *device) noexcept nogil:
    cdef Axes *axes = <Axes *> device
    cdef int i
    for i in range(axes.n):
        drive_powered(&axes.drives[i])


cdef void outputs(void *device) noexcept nogil:
    cdef Axes *axes = <Axes *> device
    cdef int i
    for i in range(axes.n):
        drive_outputs(&axes.drives[i])


cdef void advance(void *device, int64_t t_ns) noexcept nogil:
    cdef Axes *axes = <Axes *> device
    cdef int i
    for i in range(axes.n):
        drive_advance(&axes.drives[i], t_ns)


cdef void changed(void *device, int state, int code) noexcept nogil:
    cdef Axes *axes = <Axes *> device
    cdef int i
    for i in range(axes.n):
        drive_changed(&axes.drives[i], state, code)


cdef void fail(void *device, int error_code) noexcept nogil:
    cdef Axes *axes = <Axes *> device
    cdef int i
    for i in range(axes.n):
        drive_fail(&axes.drives[i], error_code)


cdef class MultiAxisDrive(DescribedDevice):
    """Several drives in one slave, each with a motor, wheel, hands and encoder of its own.

    Parameters
    ----------
    parameters : DrivePlant, optional
        Of every axis.
    identity : Identity, optional
    axes : int
        2 to 4.
    description : Description, optional
        In place of `drive_description` of all that.
    """

    def __init__(self, parameters=None, identity=SIMULATED_IDENTITY, axes: int = 2,
                 description=None) -> None:
        cdef int i
        if not 2 <= axes <= MOST_AXES:
            raise ValueError(f"axes = {axes}: 2 to {MOST_AXES}")
        self.parameters = p = DrivePlant() if parameters is None else parameters
        self.state.n = axes
        for i in range(axes):
            drive_make(&self.state.drives[i], p)
        self._describe(drive_description(p, identity, axes) if description is None else description)
        for i in range(axes):
            drive_find(&self.state.drives[i], self, i * AXIS_OBJECTS)
        self.behaviour.device = &self.state
        self.behaviour.powered = powered
        self.behaviour.outputs = outputs
        self.behaviour.advance = advance
        self.behaviour.changed = changed
        self.behaviour.fail = fail
        self.power_on()

    @property
    def axes(self) -> tuple[DriveAxis, ...]:
        """Each axis, with the state of its motor."""
        cdef DriveAxis axis
        cdef int i
        found = []
        for i in range(self.state.n):
            axis = DriveAxis.__new__(DriveAxis)
            axis.device = self
            axis.drive = &self.state.drives[i]
            found.append(axis)
        return tuple(found)


cdef class DriveAxis:
    """One axis of a `MultiAxisDrive`; `MultiAxisDrive.axes` makes it."""

    def __init__(self) -> None:
        raise TypeError("an axis belongs to a MultiAxisDrive: take it from `axes`")

    def trip(self, error_code: int) -> None:
        """Put this axis into its fault state with an error code in its 0x603F (fault injection)."""
        drive_fail(self.drive, error_code)

    @property
    def angle_rad(self) -> float:
        """True wheel angle, before the encoder."""
        return self.drive.plant.angle_rad

    @property
    def motor_torque_nm(self) -> float:
        """Torque on the shaft, after the current loop."""
        return self.drive.plant.motor_nm

    @property
    def wanted_torque_nm(self) -> float:
        """Input of the current loop."""
        return self.drive.plant.wanted_nm

    @property
    def statusword(self) -> int:
        return self.drive.state
