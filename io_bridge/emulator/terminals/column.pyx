"""A column that twists and bends between the motor of a drive and the wheel in the driver's hands.

    J_i w_i' = k (theta_i-1 - theta_i) - k (theta_i - theta_i+1) + damping + ends   six lumps, motor first, wheel last
    m (u'' + 2 zeta omega u' + omega^2 u + turning) = F                         in two directions that turn with it

Turning is what their turn adds to accelerations: -2 w u_2' - w' u_2 - w^2 u_1, and 2 w u_1' + w' u_1 - w^2 u_2.
The motor's end has its torque and friction, the wheel's end the hands: their spring along their sine, and a vertical
force F that they rest on the wheel with. The gauges have a shear strain by the middle spring's torque, and a strain by
bending in the first of the two directions. Linearly implicit midpoint rule in steps of at most 50 us.
"""
import math

from libc.math cimport cos, sin
from libc.stdint cimport int64_t

from io_bridge.emulator.terminals.analog_io cimport AnalogIo
from io_bridge.emulator.drive.plant cimport FREE, SPRING, find_path, friction, motor_decay, motor_step

cdef enum:
    SUBSTEP_NS = 50000
    LONGEST_NS = 1000000000     # a gap beyond this is not integrated: the column stood still
    WHEEL = LUMPS - 1
    MIDDLE = LUMPS // 2


cdef void substep(ColumnState *s, double t, double h) noexcept nogil:
    # t: the middle of the step
    cdef Plant *p = s.motor
    cdef double motor = motor_step(p, motor_decay(p, h))
    cdef double turned, across
    cdef double slope, drag, twist, slip, change, middle, inward, push
    cdef double both = h * (0.5 * s.damping + 0.25 * h * s.stiffness)
    cdef double force[LUMPS]
    cdef double diagonal[LUMPS]
    cdef int i, other
    drag = friction(p, s.rate_rad_s[0], &slope)
    for i in range(LUMPS):
        force[i] = 0.0
        diagonal[i] = s.inertia[i]
    force[0] = motor - drag
    diagonal[0] += 0.5 * h * slope
    find_path(p, t)
    force[WHEEL] = (p.hands_stiffness * (p.path.angle_rad - s.angle_rad[WHEEL] - 0.5 * h * s.rate_rad_s[WHEEL])
                    + p.hands_damping * (p.path.rate_rad_s - s.rate_rad_s[WHEEL]))
    diagonal[WHEEL] += h * (0.5 * p.hands_damping + 0.25 * h * p.hands_stiffness)
    for i in range(WHEEL):
        twist = s.angle_rad[i] - s.angle_rad[i + 1]
        slip = s.rate_rad_s[i] - s.rate_rad_s[i + 1]
        push = s.stiffness * (twist + 0.5 * h * slip) + s.damping * slip
        force[i] -= push
        force[i + 1] += push
        diagonal[i] += both
        diagonal[i + 1] += both
    # changes of all rates: a tridiagonal matrix with -both beside its diagonal
    for i in range(1, LUMPS):
        change = both / diagonal[i - 1]
        diagonal[i] -= change * both
        force[i] += change * force[i - 1]
    force[WHEEL] = h * force[WHEEL] / diagonal[WHEEL]
    for i in range(WHEEL - 1, -1, -1):
        force[i] = (h * force[i] + both * force[i + 1]) / diagonal[i]
    for i in range(LUMPS):
        s.angle_rad[i] += h * (s.rate_rad_s[i] + 0.5 * force[i])
        s.rate_rad_s[i] += force[i]
    turned = s.rate_rad_s[0] - 0.5 * force[0]
    middle = s.angle_rad[0] - 0.5 * h * turned
    for i in range(2):
        # a vertical force along directions that have turned
        inward = -s.side_n * (cos(middle) if i == 0 else -sin(middle)) / s.wheel_kg
        other = 1 - i
        across = 2.0 * turned * s.bent_m_s[other] + force[0] / h * s.bent_m[other]
        inward += turned * turned * s.bent_m[i] + (across if i == 0 else -across)
        push = inward - s.bending_rate * s.bent_m_s[i] - s.bending_rad_s * s.bending_rad_s * (
            s.bent_m[i] + 0.5 * h * s.bent_m_s[i])
        change = h * push / (1.0 + 0.5 * h * s.bending_rate + 0.25 * h * h * s.bending_rad_s * s.bending_rad_s)
        s.bent_m[i] += h * (s.bent_m_s[i] + 0.5 * change)
        s.bent_m_s[i] += change


cdef void column_advance(void *column, int64_t t_ns) noexcept nogil:
    """Integrate to t_ns in equal substeps; at most 20000 of them."""
    cdef ColumnState *s = <ColumnState *> column
    cdef Plant *p = s.motor
    cdef int64_t gap = t_ns - s.now_ns
    cdef double h
    cdef int i, n
    if gap <= 0:
        return
    gap = min(gap, LONGEST_NS)
    n = <int> ((gap + SUBSTEP_NS - 1) // SUBSTEP_NS)
    h = 1e-9 * <double> gap / n
    for i in range(n):
        substep(s, 1e-9 * <double> (t_ns - gap) + (i + 0.5) * h, h)
    s.now_ns = p.now_ns = t_ns
    p.angle_rad, p.rate_rad_s = s.angle_rad[0], s.rate_rad_s[0]
    find_path(p, 1e-9 * <double> t_ns)
    p.sensor_nm = (p.hands_stiffness * (p.path.angle_rad - s.angle_rad[WHEEL])
                   + p.hands_damping * (p.path.rate_rad_s - s.rate_rad_s[WHEEL]))
    s.twist = s.twist_per_nm * (
        s.stiffness * (s.angle_rad[MIDDLE] - s.angle_rad[MIDDLE - 1])
        + s.damping * (s.rate_rad_s[MIDDLE] - s.rate_rad_s[MIDDLE - 1]))
    s.bow = s.bow_per_m * s.bent_m[0]


cdef class Column:
    """Put a column between a drive's motor and its wheel; the plant's inertia is that of the motor alone from now on.

    Parameters
    ----------
    drive : DriveDevice
        At rest, not coupled yet, its hands not prescribed.
    wheel_kg_m2, shaft_kg_m2 : float
        Inertia of the wheel, and of the shaft between, about the column.
    stiffness_nm_rad, damping_nms : float
        Torsion of the whole column.
    bending_hz, bending_ratio, wheel_kg : float
        Of the wheel on the bending column: frequency, damping ratio, mass that moves.
    side_n : float
        Vertical force that the hands rest on the wheel with.
    twist_per_nm, bow_per_m : float
        Strain at the gauges by torque in the column, and by bending.
    """

    def __init__(
        self, DriveDevice drive not None, *, wheel_kg_m2: float, shaft_kg_m2: float, stiffness_nm_rad: float,
        damping_nms: float, bending_hz: float, bending_ratio: float, wheel_kg: float, side_n: float,
        twist_per_nm: float, bow_per_m: float,
    ) -> None:
        cdef ColumnState *s = &self.state
        cdef int i
        positive = {
            "wheel_kg_m2": wheel_kg_m2, "shaft_kg_m2": shaft_kg_m2, "stiffness_nm_rad": stiffness_nm_rad,
            "bending_hz": bending_hz, "wheel_kg": wheel_kg,
        }
        bad = [f"{key} = {x}: must be finite and > 0" for key, x in positive.items() if not 0.0 < x < math.inf]
        rest = {
            "damping_nms": damping_nms, "bending_ratio": bending_ratio, "side_n": side_n,
            "twist_per_nm": twist_per_nm, "bow_per_m": bow_per_m,
        }
        bad += [f"{key} = {x}: must be finite" for key, x in rest.items() if not math.isfinite(x)]
        if drive.drive.plant.hands != FREE and drive.drive.plant.hands != SPRING:
            bad.append('hands = "prescribed": a column bends between motor and hands; take "spring"')
        if drive.drive.shaft != NULL:
            bad.append("the drive is on a shaft already")
        if bad:
            raise ValueError("column: " + "; ".join(bad))
        self.drive = drive
        s.motor = &drive.drive.plant
        for i in range(LUMPS):
            s.inertia[i] = shaft_kg_m2 / (LUMPS - 1) * (0.5 if i == 0 or i == WHEEL else 1.0)
            s.angle_rad[i] = s.motor.angle_rad
        s.inertia[0] += s.motor.inertia_kg_m2
        s.inertia[WHEEL] += wheel_kg_m2
        s.stiffness = (LUMPS - 1) * stiffness_nm_rad
        s.damping = (LUMPS - 1) * damping_nms
        s.bending_rad_s = 2.0 * math.pi * bending_hz
        s.bending_rate = 2.0 * bending_ratio * s.bending_rad_s
        s.wheel_kg, s.side_n = wheel_kg, side_n
        # the hands have been there for long
        down = side_n / (wheel_kg * s.bending_rad_s * s.bending_rad_s)
        s.bent_m[0], s.bent_m[1] = -down * cos(s.motor.angle_rad), down * sin(s.motor.angle_rad)
        s.twist_per_nm, s.bow_per_m = twist_per_nm, bow_per_m
        s.now_ns = s.motor.now_ns
        drive.drive.shaft = s
        drive.drive.shaft_advance = column_advance
        # its own loops move the motor alone
        drive.coupling = self

    @property
    def strains(self) -> dict[str, float]:
        """The strains that the gauges have: `twist` and `bow`."""
        return {"twist": self.state.twist, "bow": self.state.bow}

    @property
    def wheel_rad(self) -> float:
        """Angle of the wheel."""
        return self.state.angle_rad[WHEEL]

    @property
    def bent_m(self) -> tuple[float, float]:
        """Deflection of the wheel along two directions that turn with the motor."""
        return self.state.bent_m[0], self.state.bent_m[1]

    def connect(self, str gauge, AnalogIo terminal not None, int channel, double volts_per_strain) -> None:
        """Bring a gauge's signal to an input of an analogue terminal."""
        known = {"twist": 0, "bow": 1}
        if gauge not in known:
            raise ValueError(f"gauge {gauge!r}: the column has {', '.join(known)}")
        if known[gauge] == 0:
            terminal.connect(channel, &self.state.twist, volts_per_strain, self)
        else:
            terminal.connect(channel, &self.state.bow, volts_per_strain, self)
