#include "file.h"

// place of the last sample at or before a time: from where it was, else a bounded bisection
static int64_t find(const Parameters *p, State *s, double t_s)
{
    int64_t low = 0, high = p->n_samples;
    if (p->samples_time_s[s->place] <= t_s) {
        low = s->place;
        if (low + 2 < high && p->samples_time_s[low + 2] > t_s) high = low + 2;
    }
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (p->samples_time_s[middle] <= t_s) low = middle;
        else high = middle;
    }
    return s->place = low;
}

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    (void)in;
    const int64_t last = p->n_samples - 1;
    const double begin_s = p->samples_time_s[0], end_s = p->samples_time_s[last];
    double t_s = 1e-9 * (double)at->t_ns;
    if (t_s > end_s && p->after == AFTER_ZERO) {
        out->y = 0.0;
        return 0;
    }
    if (t_s > end_s && p->after == AFTER_REPEAT && end_s > begin_s)
        t_s = begin_s + fmod(t_s - begin_s, end_s - begin_s);
    const int64_t k = find(p, s, t_s);
    out->y = p->samples_value[k];
    if (p->between == BETWEEN_LINEAR && k < last && t_s > begin_s) {
        const double share = (t_s - p->samples_time_s[k]) / (p->samples_time_s[k + 1] - p->samples_time_s[k]);
        out->y += share * (p->samples_value[k + 1] - p->samples_value[k]);
    }
    return 0;
}
