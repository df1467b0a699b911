#include "rate_limiter.h"

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    if (!are_finite(in)) {
        out->y = NAN;
        return 0;
    }
    const double time_s = at->period_s * (double)at->elapsed;
    const double most = s->y + p->rise * time_s, least = s->y - p->fall * time_s;
    // the first finite input is taken as it is
    if (!s->begun) s->y = in->u;
    else s->y = in->u > most ? most : in->u < least ? least : in->u;
    s->begun = 1;
    out->y = s->y;
    return 0;
}
