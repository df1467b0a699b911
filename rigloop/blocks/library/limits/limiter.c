#include "limiter.h"

int prepare(const Parameters *p, State *s, double period_s)
{
    (void)s, (void)period_s;
    return p->lower <= p->upper ? 0 : FAULT_LIMITS;
}

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    (void)s, (void)at;
    out->y = in->u < p->lower ? p->lower : in->u > p->upper ? p->upper : in->u;
    out->limited = in->u < p->lower ? -1.0 : in->u > p->upper ? 1.0 : 0.0;
    return 0;
}
