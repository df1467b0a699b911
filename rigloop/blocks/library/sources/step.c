#include "step.h"

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    (void)in, (void)s;
    out->y = 1e-9 * (double)at->t_ns < p->at_s ? p->before : p->after;
    return 0;
}
