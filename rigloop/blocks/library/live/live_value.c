#include "live_value.h"

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    int is_refused = 0;
    if (at->first) s->good = s->value = p->start;
    // a comparison with what is not a number is false
    if (in->changes >= 1.0) {
        if (in->wanted >= p->lower && in->wanted <= p->upper) s->good = in->wanted;
        else is_refused = 1;
    }
    const int is_finite = isfinite(in->added);
    const double aim = is_finite ? s->good + in->added : s->good;
    const double kept = aim < p->lower ? p->lower : aim > p->upper ? p->upper : aim;
    const double most = p->rate * at->period_s * (double)at->elapsed;
    const double way = kept - s->value;
    const double next = way > most ? s->value + most : way < -most ? s->value - most : kept;
    // a sum may be rounded past a limit
    s->value = next < p->lower ? p->lower : next > p->upper ? p->upper : next;
    s->refused += is_refused || !is_finite ? 1.0 : 0.0;
    out->value = s->value;
    out->refused = s->refused;
    return 0;
}
