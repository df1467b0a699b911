#include "sweep.h"

int prepare(const Parameters *p, State *s, double period_s)
{
    (void)s;
    return p->from_hz * period_s < 0.5 && p->to_hz * period_s < 0.5 ? 0 : FAULT_FREQUENCY;
}

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    (void)in, (void)s;
    const double t_s = 1e-9 * (double)at->t_ns - p->start_s;
    if (t_s < 0.0 || t_s > p->duration_s) return 0;
    double turns;
    if (p->form == FORM_LINEAR || p->from_hz == p->to_hz) {
        const double slope = (p->to_hz - p->from_hz) / p->duration_s;
        out->frequency_hz = p->from_hz + slope * t_s;
        turns = p->from_hz * t_s + 0.5 * slope * t_s * t_s;
    } else {
        const double rate = log(p->to_hz / p->from_hz) / p->duration_s;
        out->frequency_hz = p->from_hz * exp(rate * t_s);
        turns = p->from_hz * expm1(rate * t_s) / rate;
    }
    out->y = p->amplitude * sin(2.0 * M_PI * fmod(turns, 1.0));
    return 0;
}
