#include "low_pass.h"

static double share_of(const Parameters *p, double time_s)
{
    return -expm1(-2.0 * M_PI * p->cutoff_hz * time_s);
}

int prepare(const Parameters *p, State *s, double period_s)
{
    s->share = share_of(p, period_s);
    return 0;
}

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    if (!are_finite(in)) {
        out->y = NAN;
        return 0;
    }
    const double share = at->elapsed == 1 ? s->share : share_of(p, at->period_s * (double)at->elapsed);
    s->y = s->begun ? s->y + share * (in->u - s->y) : in->u;
    s->begun = 1;
    out->y = s->y;
    return 0;
}
