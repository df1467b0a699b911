from collections.abc import Mapping, Sequence

from rt_core.cycle_block import CycleBlock

READS: tuple[str, ...]
WRITES: tuple[str, ...]

class Excitation(CycleBlock):
    """A periodic sum of sines of equal amplitude, added to a torque request before the guard.

    It begins once the guard has ramped in, rises over `ramp_s`, and is over as soon as the guard lets go. Its time is
    the nominal time of the cycle, so that a lost cycle shifts no phase. A request that is not a number is passed on.

    Parameters
    ----------
    name : str
    reads, writes : mapping of port to signal path
        `request_nm`, `ramp` (of the guard); `torque_nm` (the sum), `excitation_nm`, `elapsed_s` since it began.
    amplitude_nm : float
        Peak of the sum, Nm of the request.
    base_hz : float
        The sum repeats with it.
    harmonics : sequence of int
        The sines are at these multiples of `base_hz`; 1 to 256 of them.
    ramp_s : float, optional

    Attributes
    ----------
    line_nm : float
        Amplitude of each sine.

    Raises
    ------
    ValueError
        A number out of range, a harmonic that comes twice, or a wrong port: all mistakes in one message.

    Real time
    ---------
    Safe: one sine a harmonic.

    Source
    ------
    M. R. Schroeder, "Synthesis of low-peak-factor signals and binary sequences with low autocorrelation", IEEE Trans.
    Inf. Theory 16 (1970) 85-89, for the phases.
    """

    line_nm: float

    def __init__(
        self,
        name: str,
        reads: Mapping[str, str],
        writes: Mapping[str, str] | None = None,
        *,
        amplitude_nm: float,
        base_hz: float,
        harmonics: Sequence[int],
        ramp_s: float = 1.0,
    ) -> None: ...
