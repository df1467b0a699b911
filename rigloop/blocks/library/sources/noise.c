#include "noise.h"

// number k of the sequence of a seed, 64 random bits
static uint64_t splitmix64(uint64_t seed, uint64_t k)
{
    uint64_t z = seed + (k + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// within (0, 1), the same distance from both
static double unit(uint64_t bits)
{
    return ((double)(bits >> 12) + 0.5) * 0x1p-52;
}

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    (void)in, (void)s;
    const uint64_t k = 2 * (uint64_t)llround(1e-9 * (double)at->t_ns / at->period_s);
    // the seed through the generator too, so that neighbouring seeds share nothing
    const uint64_t seed = splitmix64((uint64_t)p->seed, 0);
    const double a = unit(splitmix64(seed, k)), b = unit(splitmix64(seed, k + 1));
    out->y = p->form == FORM_NORMAL ? p->std * (sqrt(-2.0 * log(a)) * cos(2.0 * M_PI * b))
                                    : p->std * (sqrt(12.0) * (a - 0.5));
    return 0;
}
