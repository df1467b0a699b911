#include "lookup_2d.h"

// interval and share in it of a place, held at the ends: a bounded bisection
static int64_t interval(const double *points, int64_t n, double u, double *share)
{
    int64_t low = 0, high = n - 1;
    const double held = u < points[0] ? points[0] : u > points[n - 1] ? points[n - 1] : u;
    while (high - low > 1) {
        const int64_t middle = (low + high) / 2;
        if (points[middle] <= held) low = middle;
        else high = middle;
    }
    *share = (held - points[low]) / (points[low + 1] - points[low]);
    return low;
}

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    (void)s, (void)at;
    if (isnan(in->u) || isnan(in->v)) {
        out->y = NAN;
        return 0;
    }
    double a, b;
    const int64_t i = interval(p->u_points, p->n_u_points, in->u, &a);
    const int64_t j = interval(p->v_points, p->n_v_points, in->v, &b);
    const double *row = p->values + i * p->n_v_points + j, *next = row + p->n_v_points;
    const double here = row[0] + b * (row[1] - row[0]), there = next[0] + b * (next[1] - next[0]);
    out->y = here + a * (there - here);
    return 0;
}
