"""A sum of sines of small peak, added to a torque request; see excitation_step.pyi."""
import math

from libc.math cimport M_PI, fmod, isfinite, sin
from libc.stdint cimport int64_t, uintptr_t

from rt_core.cycle_block cimport CycleBlock

from rt_core.block import wrong_ports

READS = ("request_nm", "ramp")
WRITES = ("torque_nm", "excitation_nm", "elapsed_s")

cdef enum:
    MOST_LINES = 256

cdef struct Memory:
    const double *request_nm
    const double *ramp           # of the guard: 1 once it has ramped in
    double *torque_nm
    double *excitation_nm
    double *elapsed_s            # since it began; 0: it has not
    double line_nm
    double base_hz
    double ramp_s
    int n_lines
    double harmonic[MOST_LINES]
    double phase[MOST_LINES]
    bint running
    int64_t began_ns


cdef double _sum(const Memory *m, double elapsed_s) noexcept nogil:
    # phases from the turns within a base period: exact however long it runs
    cdef double turns = fmod(elapsed_s * m.base_hz, 1.0)
    cdef double total = 0.0
    cdef int i
    for i in range(m.n_lines):
        total += sin(2.0 * M_PI * fmod(m.harmonic[i] * turns, 1.0) + m.phase[i])
    return m.line_nm * total


cdef int step_excitation(void *self, int64_t t_ns) noexcept nogil:
    cdef Memory *m = <Memory *>self
    cdef double elapsed_s = 0.0, torque_nm = 0.0
    if not (m.ramp[0] >= 1.0):
        m.running = False
    elif not m.running:
        m.running = True
        m.began_ns = t_ns
    if m.running:
        elapsed_s = 1e-9 * (t_ns - m.began_ns)
        torque_nm = min(1.0, elapsed_s / m.ramp_s) * _sum(m, elapsed_s)
    m.elapsed_s[0] = elapsed_s
    m.excitation_nm[0] = torque_nm
    # a request that is not a number stays one: the guard answers it
    m.torque_nm[0] = m.request_nm[0] + torque_nm if isfinite(m.request_nm[0]) else m.request_nm[0]
    return 0


cdef class Excitation(CycleBlock):
    """See excitation_step.pyi."""

    cdef readonly double line_nm
    cdef Memory memory

    def __init__(self, name, reads, writes=None, *, amplitude_nm, base_hz, harmonics, ramp_s=1.0):
        from rigloop.blocks.multisine import line_amplitude, phases

        paths = {port: f"{name}/{port}" for port in WRITES} | dict(writes or {})
        mistakes = [
            f"{what} = {value}: must be a positive number"
            for what, value in (("amplitude_nm", amplitude_nm), ("base_hz", base_hz), ("ramp_s", ramp_s))
            if not (math.isfinite(value) and value > 0.0)
        ]
        if not 1 <= len(harmonics) <= MOST_LINES or min(harmonics) < 1 or len(set(harmonics)) != len(harmonics):
            mistakes.append(f"harmonics: 1 to {int(MOST_LINES)} different whole numbers from 1 on are needed")
        mistakes += wrong_ports((reads, paths, READS, WRITES), READS)
        if mistakes:
            raise ValueError(f"excitation {name}: " + "; ".join(mistakes))
        self.name = name
        self.reads = {port: reads[port] for port in READS}
        self.writes = {port: paths[port] for port in WRITES}
        self.memory.base_hz = base_hz
        self.memory.ramp_s = ramp_s
        self.memory.n_lines = len(harmonics)
        for i, (harmonic, phase) in enumerate(zip(harmonics, phases(len(harmonics)), strict=True)):
            self.memory.harmonic[i] = harmonic
            self.memory.phase[i] = phase
        self.line_nm = self.memory.line_nm = line_amplitude(amplitude_nm, harmonics)
        self.run_by(step_excitation, &self.memory, 0)

    def bind(self, reads, writes):
        given = dict(zip(self.reads, reads, strict=True))
        taken = dict(zip(self.writes, writes, strict=True))
        self.memory.request_nm = <const double *><uintptr_t>given["request_nm"]
        self.memory.ramp = <const double *><uintptr_t>given["ramp"]
        self.memory.torque_nm = <double *><uintptr_t>taken["torque_nm"]
        self.memory.excitation_nm = <double *><uintptr_t>taken["excitation_nm"]
        self.memory.elapsed_s = <double *><uintptr_t>taken["elapsed_s"]
