#include "ramp.h"

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    (void)in, (void)s;
    const double share = (1e-9 * (double)at->t_ns - p->at_s) / p->duration_s;
    out->y = share <= 0.0 ? p->before : share >= 1.0 ? p->after : p->before + share * (p->after - p->before);
    return 0;
}
