#include "pid.h"

static double share_of(const Parameters *p, double time_s)
{
    return -expm1(-2.0 * M_PI * p->filter_hz * time_s);
}

int prepare(const Parameters *p, State *s, double period_s)
{
    s->share = share_of(p, period_s);
    return p->lower < p->upper ? 0 : FAULT_LIMITS;
}

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    if (!are_finite(in)) {
        out->y = NAN;
        out->saturated = NAN;
        return 0;
    }
    const double time_s = at->period_s * (double)at->elapsed;
    const double share = at->elapsed == 1 ? s->share : share_of(p, time_s);
    const double error = in->setpoint - in->measured;
    if (!s->begun) s->filtered = in->measured;
    s->begun = 1;
    const double change = share * (in->measured - s->filtered);
    s->filtered += change;

    const double others = p->kp * error - p->kd * (change / time_s) + in->feedforward;
    const double last = s->integral;
    const double integral = in->reset >= 0.5 ? 0.0 : last + p->ki * error * time_s;
    const double y = others + integral;
    // the integral goes as far as the limit and not beyond; back it may go at any time
    s->integral = y > p->upper && integral > last   ? fmax(last, p->upper - others)
                  : y < p->lower && integral < last ? fmin(last, p->lower - others)
                                                    : integral;
    out->y = y < p->lower ? p->lower : y > p->upper ? p->upper : y;
    out->saturated = y < p->lower ? -1.0 : y > p->upper ? 1.0 : 0.0;
    return 0;
}
