#include "notch.h"

int prepare(const Parameters *p, State *s, double period_s)
{
    if (!(p->frequency_hz * period_s < 0.5 && p->width_hz * period_s < 0.5)) return FAULT_FREQUENCY;
    const double gain = 1.0 / (1.0 + tan(M_PI * p->width_hz * period_s));
    const double c = cos(2.0 * M_PI * p->frequency_hz * period_s);
    s->b0 = gain;
    s->b1 = -2.0 * gain * c;
    s->b2 = gain;
    s->a1 = -2.0 * gain * c;
    s->a2 = 2.0 * gain - 1.0;
    return 0;
}

enum { MOST_MISSED = 1000 };  // periods that are made up for

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    if (!are_finite(in)) {
        out->y = NAN;
        return 0;
    }
    const double u = in->u;
    if (!s->begun) {
        // at rest with this input: gain 1
        s->z2 = (s->b2 - s->a2) * u;
        s->z1 = (s->b1 - s->a1) * u + s->z2;
        s->begun = 1;
    }
    const int64_t times = at->elapsed < MOST_MISSED ? at->elapsed : MOST_MISSED;
    for (int64_t k = 0; k < times; k++) {
        out->y = s->b0 * u + s->z1;
        s->z1 = s->b1 * u - s->a1 * out->y + s->z2;
        s->z2 = s->b2 * u - s->a2 * out->y;
    }
    (void)p;
    return 0;
}
