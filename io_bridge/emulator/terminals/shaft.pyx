"""A shaft with a torque transducer that couples the motors of two drives: the bench for latency and
frequency response.

    J1 w1' = T1 - f1(w1) - T,    J2 w2' = T2 - f2(w2) + T,    T = k (theta1 - theta2) + c (w1 - w2)

Linearly implicit midpoint rule in steps of at most 50 us, the two speeds solved together; the transducer is a
first-order low pass of T.
"""
import math

from libc.math cimport exp
from libc.stdint cimport int64_t

from io_bridge.emulator.terminals.analog_io cimport AnalogIo
from io_bridge.emulator.drive.plant cimport FREE, friction, motor_decay, motor_step

cdef enum:
    SUBSTEP_NS = 50000
    LONGEST_NS = 1000000000    # a gap beyond this is not integrated: the shaft stood still


cdef double decay_of(double h, double lag_s) noexcept nogil:
    return exp(-h / lag_s) if lag_s > 0.0 else 0.0


cdef void substep(ShaftState *s, double h) noexcept nogil:
    cdef Plant *a = s.first
    cdef Plant *b = s.second
    cdef double motor_a = motor_step(a, motor_decay(a, h))
    cdef double motor_b = motor_step(b, motor_decay(b, h))
    cdef double slip = a.rate_rad_s - b.rate_rad_s
    cdef double twist = a.angle_rad - b.angle_rad - s.untwisted_rad
    cdef double slope_a, slope_b, drag_a, drag_b, shaft, both, m_a, m_b, r_a, r_b, determinant
    drag_a = friction(a, a.rate_rad_s, &slope_a)
    drag_b = friction(b, b.rate_rad_s, &slope_b)
    shaft = s.stiffness * (twist + 0.5 * h * slip) + s.damping * slip
    both = h * (0.5 * s.damping + 0.25 * h * s.stiffness)
    m_a = a.inertia_kg_m2 + 0.5 * h * slope_a + both
    m_b = b.inertia_kg_m2 + 0.5 * h * slope_b + both
    r_a = h * (motor_a - drag_a - shaft)
    r_b = h * (motor_b - drag_b + shaft)
    determinant = m_a * m_b - both * both
    # the changes of both speeds
    slope_a = (m_b * r_a + both * r_b) / determinant
    slope_b = (m_a * r_b + both * r_a) / determinant
    a.angle_rad += h * (a.rate_rad_s + 0.5 * slope_a)
    b.angle_rad += h * (b.rate_rad_s + 0.5 * slope_b)
    a.rate_rad_s += slope_a
    b.rate_rad_s += slope_b
    twist = a.angle_rad - b.angle_rad - s.untwisted_rad
    s.twist_nm = s.stiffness * twist + s.damping * (a.rate_rad_s - b.rate_rad_s)
    s.sensor_nm = s.twist_nm + (s.sensor_nm - s.twist_nm) * decay_of(h, s.sensor_lag_s)


cdef void shaft_advance(void *shaft, int64_t t_ns) noexcept nogil:
    """Integrate both plants to t_ns in equal substeps; at most 20000 of them."""
    cdef ShaftState *s = <ShaftState *> shaft
    cdef int64_t gap = t_ns - s.now_ns
    cdef int _i, n
    if gap <= 0:
        return
    gap = min(gap, LONGEST_NS)
    n = <int> ((gap + SUBSTEP_NS - 1) // SUBSTEP_NS)
    for _i in range(n):
        substep(s, 1e-9 * <double> gap / n)
    s.now_ns = t_ns
    s.first.now_ns = t_ns
    s.second.now_ns = t_ns
    # torque of the shaft on each motor, as its own sensor reads it
    s.first.sensor_nm = -s.sensor_nm
    s.second.sensor_nm = s.sensor_nm


cdef class Shaft:
    """Couple two drives, from where they stand.

    Parameters
    ----------
    first, second : DriveDevice
        With ``hands = "free"``, at the same time, and not coupled yet.
    stiffness_nm_rad, damping_nms : float
        Of shaft and transducer together.
    sensor_hz : float
        Bandwidth of the transducer (-3 dB).
    """

    def __init__(self, DriveDevice first not None, DriveDevice second not None, *,
                 stiffness_nm_rad: float = 4000.0, damping_nms: float = 0.2,
                 sensor_hz: float = 1000.0) -> None:
        cdef ShaftState *s = &self.state
        cdef DriveDevice drive
        bad = [
            f"{name} = {value}: must be finite and > 0"
            for name, value in (("stiffness_nm_rad", stiffness_nm_rad), ("sensor_hz", sensor_hz))
            if not 0.0 < value < math.inf
        ]
        if not 0.0 <= damping_nms < math.inf:
            bad.append(f"damping_nms = {damping_nms}: must be finite and not negative")
        if first is second:
            bad.append("a shaft needs two drives")
        for drive in (first, second):
            if drive.drive.plant.hands != FREE:
                bad.append(f'{drive.parameters.name}: hands = "free" is needed on a shaft')
            if drive.drive.shaft != NULL:
                bad.append(f"{drive.parameters.name}: is on a shaft already")
        if first.drive.plant.now_ns != second.drive.plant.now_ns:
            bad.append("the drives must be at the same time: couple them before they run")
        if bad:
            raise ValueError("shaft: " + "; ".join(bad))
        self.first = first
        self.second = second
        s.first = &first.drive.plant
        s.second = &second.drive.plant
        s.stiffness = stiffness_nm_rad
        s.damping = damping_nms
        s.sensor_lag_s = 1.0 / (2.0 * math.pi * sensor_hz)
        s.untwisted_rad = s.first.angle_rad - s.second.angle_rad
        s.now_ns = s.first.now_ns
        for drive, other in ((first, second), (second, first)):
            drive.drive.shaft = s
            drive.drive.shaft_advance = shaft_advance
            drive.drive.partner = &(<DriveDevice> other).drive
            # the shaft refers to both: they live as long as any of the three
            drive.coupling = self

    @property
    def twist_torque_nm(self) -> float:
        """Torque that the first drive puts into the shaft."""
        return self.state.twist_nm

    @property
    def sensor_torque_nm(self) -> float:
        """The same behind the transducer's low pass."""
        return self.state.sensor_nm

    def connect(self, AnalogIo terminal not None, int channel=0,
                double volts_per_nm=0.5) -> None:
        """Bring the transducer's signal to an input of an analogue terminal."""
        terminal.connect(channel, &self.state.sensor_nm, volts_per_nm, self)
