#include "counter.h"

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    (void)at;
    if (!are_finite(in)) {
        out->count = NAN;
        return 0;
    }
    const int is_high = in->u >= p->level;
    if (s->begun && is_high && !s->was_high) s->count += 1.0;
    if (in->reset >= 0.5) s->count = 0.0;
    s->begun = 1;
    s->was_high = is_high;
    out->count = s->count;
    return 0;
}
