#include "hysteresis.h"

int prepare(const Parameters *p, State *s, double period_s)
{
    (void)s, (void)period_s;
    return p->lower < p->upper ? 0 : FAULT_THRESHOLDS;
}

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    (void)at;
    if (in->u >= p->upper) s->is_on = 1;
    if (in->u <= p->lower) s->is_on = 0;
    out->y = isnan(in->u) ? NAN : (double)s->is_on;
    return 0;
}
