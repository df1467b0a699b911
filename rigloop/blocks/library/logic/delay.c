#include "delay.h"

static double push(const Parameters *p, State *s, double u)
{
    const double oldest = s->line[s->place];
    s->line[s->place] = u;
    s->place = s->place + 1 < p->cycles ? s->place + 1 : 0;
    return oldest;
}

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    if (at->first)
        for (int64_t k = 0; k < p->cycles; k++) s->line[k] = p->initial;
    // more than the whole line of them leaves no trace
    const int64_t missed = at->elapsed - 1 < p->cycles ? at->elapsed - 1 : p->cycles;
    for (int64_t k = 0; k < missed; k++) push(p, s, s->last);
    out->y = push(p, s, in->u);
    s->last = in->u;
    return 0;
}
