#include "integrator.h"

int prepare(const Parameters *p, State *s, double period_s)
{
    (void)period_s;
    s->y = p->initial;
    return p->lower <= p->initial && p->initial <= p->upper ? 0 : FAULT_LIMITS;
}

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    if (!are_finite(in)) {
        out->y = NAN;
        return 0;
    }
    const double y = s->y + in->u * at->period_s * (double)at->elapsed;
    s->y = y < p->lower ? p->lower : y > p->upper ? p->upper : y;
    if (in->reset >= 0.5) s->y = p->initial;
    out->y = s->y;
    return 0;
}
