#include "sine.h"

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    (void)in, (void)s;
    const double t_s = 1e-9 * (double)at->t_ns - p->start_s;
    out->y = p->offset;
    if (t_s >= 0.0) out->y += p->amplitude * sin(2.0 * M_PI * fmod(p->frequency_hz * t_s, 1.0) + p->phase_rad);
    return 0;
}
