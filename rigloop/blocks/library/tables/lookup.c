#include "lookup.h"

// interval of a place between the first and the last point: a bounded bisection
static int64_t interval(const double *points, int64_t n, double u)
{
    int64_t low = 0, high = n - 1;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (points[middle] <= u) low = middle;
        else high = middle;
    }
    return low;
}

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    (void)s, (void)at;
    const int64_t last = p->n_points - 1;
    if (isnan(in->u)) out->y = NAN;
    else if (in->u <= p->points[0]) out->y = p->values[0];
    else if (in->u >= p->points[last]) out->y = p->values[last];
    else {
        const int64_t k = interval(p->points, p->n_points, in->u);
        const double share = (in->u - p->points[k]) / (p->points[k + 1] - p->points[k]);
        out->y = p->values[k] + share * (p->values[k + 1] - p->values[k]);
    }
    return 0;
}
