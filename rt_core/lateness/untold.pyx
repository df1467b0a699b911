"""Python's view of the decision in untold.pxd."""
import math

HOLE_US = HOLE_NS / 1000
# holes of HOLE_US and more in a second: of a virtual machine, 20 to 80 were measured; of another, its firmware's
PRIOR_VIRTUAL, PRIOR_METAL = 40.0, 0.4


def explained_ns(
    *, ns, usual_ns=0.0, work=-1, usual_work=0.0, minor_faults=0, major_faults=0, denormal=False, usual_denormal=0.0,
):
    cdef Surplus s
    s.ns, s.usual_ns, s.work, s.usual_work = ns, usual_ns, work, usual_work
    s.minor_faults, s.major_faults = minor_faults, major_faults
    s.denormal, s.usual_denormal = denormal, usual_denormal
    return explained(&s)


def probability(here, here_s, elsewhere, elsewhere_s, prior_per_s):
    if min(here, here_s, elsewhere, elsewhere_s) < 0 or not prior_per_s > 0 or not math.isfinite(here_s + elsewhere_s):
        raise ValueError("counts and times must not be below 0, the prior rate must be above 0")
    return as_many(here, 1e9 * here_s, elsewhere, 1e9 * elsewhere_s, prior_per_s)


def is_recurrent(ns, here, here_s, everywhere, everywhere_s, prior_per_s):
    cdef Holes mine, total
    cdef int i
    if not len(here) == len(everywhere) == SIZES:
        raise ValueError(f"{SIZES} counts each, by size")
    mine.exposure_ns, total.exposure_ns = 1e9 * here_s, 1e9 * everywhere_s
    for i in range(SIZES):
        mine.count[i], total.count[i] = here[i], everywhere[i]
    return recurs(&mine, &total, ns, prior_per_s)
