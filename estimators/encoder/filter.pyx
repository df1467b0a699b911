"""Encoder Kalman filter: raw counts to angle, rate and acceleration.

One correction for each valid sample, at the time of that sample; the output of every cycle is the
estimate moved to that cycle. The model of the motion is in `encoder_gains`. The gains come from the
covariance over the interval that the samples have (`encoder_covariance`): the gains of one interval
make an unstable filter at another, and gains of a table, each right for its own, where they take turns.

A sample whose innovation no possible acceleration explains is rejected. When several in a row
agree, the encoder has been re-referenced (an index pulse, a lost count): the estimate takes the new
angle, and the *output* keeps its value and creeps to it (critically damped), so that the model and
the driver's hands feel no kick.
"""
from libc.math cimport exp, fabs
from libc.stdint cimport int64_t, uintptr_t

from estimators.encoder.covariance cimport EncoderCovariance, restart
from estimators.encoder.cycle cimport (
    ACCELERATION, ANGLE, COUNT, ELAPSED, INNOVATION, JERK, JUMPS, MISSED, N_READS, N_WRITES, NIS, OFFSET, RATE, READY,
    REJECTED, RESETS, SAMPLE_AGE, TRUSTED, UNWRAPPED, VALID, EncoderState, advance, step,
)

import math

import numpy as np

from estimators.encoder.gains import innovation_peak, process_noise
from estimators.encoder.settings import EncoderSettings
from rt_core.block import wrong_ports
from rt_core.settings import SettingsError

READ_PLACES = {
    "position_count": COUNT, "valid": VALID, "elapsed": ELAPSED, "sample_age_s": SAMPLE_AGE,
}
WRITE_PLACES = {
    "angle_rad": ANGLE, "rate_rad_s": RATE, "acceleration_rad_s2": ACCELERATION,
    "innovation_rad": INNOVATION, "unwrapped_count": UNWRAPPED, "offset_rad": OFFSET,
    "missed": MISSED, "rejected": REJECTED, "jumps": JUMPS, "ready": READY, "trusted": TRUSTED,
    "jerk_rad_s3": JERK, "nis": NIS, "covariance_resets": RESETS,
}
READ_PORTS = tuple(sorted(READ_PLACES, key=READ_PLACES.get))
OPTIONAL_PORTS = ("sample_age_s",)      # a rig may leave these bare; it has to say where the others are
WRITE_PORTS = tuple(sorted(WRITE_PLACES, key=WRITE_PLACES.get))     # as the columns of `run`

# how long an estimate without samples says more than none: motions of hands are forgotten by then
REMEMBERED_S = 1.0
# however long they are, an estimate settles over more samples than this
SETTLE_INTERVALS = 8

cdef class EncoderFilter(CycleBlock):
    """Kalman filter from encoder counts to angle, rate and acceleration; a block.

    Parameters
    ----------
    name : str
        Name of the block.
    reads : mapping of str to str
        Port to signal path. `position_count`: raw count; `valid`: 1 for a new sample, anything else
        for none (optional, else always 1); `elapsed`: periods since the last executed cycle
        (optional, else 1); `sample_age_s`: how long before this cycle's nominal time the sample was
        taken (optional, else 0). A sample no newer than the last accepted one is ignored.
    writes : mapping of str to str
        Port to signal path, any of `WRITE_PORTS`. `angle_rad`, `rate_rad_s`, `acceleration_rad_s2`:
        the estimate; `innovation_rad`: of this cycle's sample, 0 without one; `unwrapped_count`: of
        the last accepted sample; `offset_rad`: how far the angle still is from the encoder's
        after a jump; `missed`: cycles in a row without an accepted sample; `rejected`, `jumps`:
        samples refused and jumps believed since the start; `ready`: 1 when the estimate has
        settled; `trusted`: 1 when it is ready and a sample of this cycle went into it;
        `jerk_rad_s3`: of constant jerk, else 0; `nis`: normalised innovation squared of this
        cycle's sample, 1 on average when the noise is as said; `covariance_resets`: how often the
        covariance lost positive definiteness and was started again. Torque belongs to `ready` = 1 only.
    counts_per_rev : float
        Counts per turn of the wheel, > 0.
    period_s : float
        Period of the task, s.
    sample_period_s : float, optional
        Nominal time between two samples, which the bandwidth belongs to. Default `period_s`.
    bandwidth_rad_s : float
        `w0` of the filter; with constant acceleration that lags by about `2 / w0`.
    model : {"constant_velocity", "constant_acceleration", "constant_jerk"}, optional
        Motion between two samples. With constant velocity the acceleration is 0.
    gains : {"time_varying"}, optional
        From the covariance at the times of the samples; there are no others. With samples on time they
        end in those of the steady state, `gain`.
    noise_rad : float, optional
        Standard deviation of a sample, for `nis`. Default: the one of the rounding to counts.
    counter_span : float, optional
        Whole number of counts after which the counter repeats (2^32, or counts_per_rev); 0: it
        never does.
    zero_count : float, optional
        Count at angle zero. The first sample is taken within half a span of it.
    sign : int, optional
        +1 or -1: the mounting.
    max_acceleration_rad_s2 : float, optional
        The largest acceleration of the wheel. The innovation gate is twice the effect of a step of it,
        plus two counts.
    gate_nis : float, optional
        A sample with a larger `nis` is rejected too; 0: no such gate. 10.8 is 0.1 % of good ones.
    jump_samples : int, optional
        Rejected samples that must agree before they are believed.
    bleed_rad_s : float, optional
        Rate at which the output creeps to the encoder's angle after a jump; 0: never.
    lost_after_s : float, optional
        Without an accepted sample for so long the output is given up: angle held, rates zero, `ready`
        0. The next sample takes up the estimate again, as what the covariance says that it is worth;
        it starts a new one if the estimate is older than a second (or than `lost_after_s`, if that
        is more), or if the wheel cannot have come there. Default: 20 sample periods, at least 20 ms.

    Raises
    ------
    ValueError
        A value out of range, an unknown or missing port: all mistakes in one message.

    Notes
    -----
    Non-finite inputs, or counts beyond 2^53, count as no sample. Between two samples the wheel may
    not turn by half a span.

    Real time
    ---------
    `step` is safe: no allocation, no Python, no loop over data; `exp` only in a cycle that follows
    a skip. A sample costs four loops over at most 4 x 4 numbers; none, once samples at one interval
    have brought the covariance to rest.

    Source
    ------
    Bar-Shalom, Li, Kirubarajan, Estimation with Applications to Tracking and Navigation, 2001,
    sections 6.2 and 6.3 (white acceleration and white jerk models), 5.4 (innovations).
    """

    def __init__(
        self, str name, reads, writes, *, double counts_per_rev, double period_s,
        sample_period_s=None, lost_after_s=None, noise_rad=None, **others,
    ):
        cdef EncoderState *s = &self.state
        cdef double sample_s = period_s if sample_period_s is None else sample_period_s
        cdef double lost_s = max(20.0 * sample_s, 0.02) if lost_after_s is None else lost_after_s
        cdef double noise = (
            2.0 * math.pi / fabs(counts_per_rev) / math.sqrt(12.0)
            if noise_rad is None and counts_per_rev else noise_rad or 0.0)
        cdef int i
        ports = (reads, writes, READ_PORTS, WRITE_PORTS)
        mistakes, wrong, settings = wrong_ports(ports, ["position_count"]), (), None
        try:
            settings = EncoderSettings(
                counts_per_rev=counts_per_rev, period_s=period_s, sample_period_s=sample_s,
                lost_after_s=lost_s, noise_rad=noise, **others,
            )
        except SettingsError as error:
            wrong = error.wrong
        if mistakes:
            raise ValueError(f"encoder filter {name}: " + "; ".join([*mistakes, *map(str, wrong)]))
        if wrong:
            raise SettingsError(f"encoder filter {name}", wrong)
        cdef double bandwidth_rad_s = settings.bandwidth_rad_s
        cdef double max_acceleration_rad_s2 = settings.max_acceleration_rad_s2
        cdef double bleed_rad_s = settings.bleed_rad_s
        self.name, self.reads, self.writes = name, dict(reads), dict(writes)
        self.gain = settings.steady().gain
        s.rad_per_count = settings.sign * 2.0 * math.pi / counts_per_rev
        s.counter_span, s.zero_count = settings.counter_span, settings.zero_count
        s.period_s, s.sample_period_s = period_s, sample_s
        s.samples_per_s, s.nis_per_rad2 = 1.0 / sample_s, 1.0 / (noise * noise)
        s.gate_nis = settings.gate_nis
        s.max_acceleration_rad_s2 = max_acceleration_rad_s2
        s.gate_rad = self.gate_rad = 2.0 * (
            max_acceleration_rad_s2 * innovation_peak(self.gain, sample_s) + fabs(s.rad_per_count))
        s.lost_after_s, s.forget_after_s = lost_s, max(lost_s, REMEMBERED_S)
        s.offset.bleed_rad_s, s.offset.period_s = bleed_rad_s, period_s
        s.offset.period_decay = exp(-bleed_rad_s * period_s)
        s.jump_samples = settings.jump_samples
        # a wrong rate dies out with the slowest pole, -w0 sin(pi / 2n), or faster: six time constants
        s.settle_samples = 1 + <int64_t>math.ceil(
            6.0 / (math.sin(math.pi / (2 * len(self.gain))) * bandwidth_rad_s * sample_s))
        s.settle_most = s.settle_samples // SETTLE_INTERVALS
        _set_covariance(&s.covariance, len(self.gain), bandwidth_rad_s, sample_s,
                        max_acceleration_rad_s2 / noise)
        s.unwrapped_count = math.nan
        s.idle[0] = math.nan
        s.idle[1] = s.idle[2] = 1.0
        s.idle[3] = 0.0
        for i in range(N_READS):
            s.read[i] = &s.idle[i]
        for i in range(N_WRITES):
            s.write[i] = &s.value[i]
        self.run_by(step, s, sizeof(EncoderState))
        self.view.work = &s.n_done

    @property
    def covariance(self):
        """Covariance of the estimate at the last accepted sample, shape (n, n): rad, rad/s ..."""
        cdef EncoderCovariance *c = &self.state.covariance
        cdef int i
        u = np.array([c.u[i] for i in range(c.n * c.n)]).reshape(c.n, c.n)
        scale = c.bandwidth_rad_s ** np.arange(c.n)
        u *= scale[:, None] * np.sqrt(
            1.0 / self.state.nis_per_rad2 * np.array([c.d[i] for i in range(c.n)]))
        return u @ u.T

    def bind(self, reads, writes):
        """Take the address of one float64 cell per port, in port order."""
        cdef EncoderState *s = &self.state
        self.check_cells(reads, writes)
        for port, address in zip(self.reads, reads):
            s.read[READ_PLACES[port]] = <const double *><uintptr_t>address
        for port, address in zip(self.writes, writes):
            s.write[WRITE_PLACES[port]] = <double *><uintptr_t>address

    def run(
        self, const double[::1] position_count, const double[::1] valid,
        const double[::1] elapsed, sample_age_s=None,
    ):
        """Advance over whole arrays, one cycle per element, as `step` would; ports are left alone.

        Parameters
        ----------
        position_count, valid, elapsed : ndarray of float64, shape (n,)
            The inputs of each cycle.
        sample_age_s : ndarray of float64, shape (n,), optional
            Default: 0.

        Returns
        -------
        ndarray of float64, shape (n, 14)
            The outputs of each cycle, in the order of `WRITE_PORTS`.

        Raises
        ------
        ValueError
            The lengths differ.

        Real time
        ---------
        Not safe: allocates the result. The loop itself holds no GIL.
        """
        cdef Py_ssize_t n = position_count.shape[0], i
        cdef const double[::1] age = (
            np.zeros(n) if sample_age_s is None else np.ascontiguousarray(sample_age_s, float))
        if valid.shape[0] != n or elapsed.shape[0] != n or age.shape[0] != n:
            raise ValueError(
                f"lengths differ: position_count {n}, valid {valid.shape[0]}, "
                f"elapsed {elapsed.shape[0]}, sample_age_s {age.shape[0]}")
        cdef double[:, ::1] out = np.empty((n, N_WRITES))
        with nogil:
            for i in range(n):
                advance(&self.state, position_count[i], valid[i], elapsed[i], age[i], &out[i, 0])
        return np.asarray(out)


cdef void _set_covariance(
    EncoderCovariance *c, int n, double bandwidth_rad_s, double sample_period_s,
    double acceleration_in_noise,
):
    cdef int i
    noise = bandwidth_rad_s * sample_period_s * process_noise(1.0, n)
    # U D U' of a matrix is L D L' of the matrix turned upside down
    lower = np.linalg.cholesky(noise[::-1, ::-1])[::-1, ::-1]
    unit = lower / np.diag(lower)
    c.n, c.bandwidth_rad_s = n, bandwidth_rad_s
    for i in range(n * n):
        c.noise_u[i] = unit.flat[i]
    # before the first sample: an acceleration that the wheel can have, for as long as the filter
    # remembers
    for i in range(n):
        c.noise_d[i] = lower[i, i] ** 2
        c.initial[i] = 1.0 if i == 0 else (acceleration_in_noise / bandwidth_rad_s ** 2) ** 2
    restart(c)
