#include "convert.h"

static const double FACTORS[] = {
    [CONVERSION_DEG_TO_RAD] = M_PI / 180.0,
    [CONVERSION_RAD_TO_DEG] = 180.0 / M_PI,
    [CONVERSION_RPM_TO_RAD_S] = M_PI / 30.0,
    [CONVERSION_RAD_S_TO_RPM] = 30.0 / M_PI,
    [CONVERSION_TURNS_TO_RAD] = 2.0 * M_PI,
    [CONVERSION_RAD_TO_TURNS] = 0.5 / M_PI,
    [CONVERSION_MM_TO_M] = 1e-3,
    [CONVERSION_M_TO_MM] = 1e3,
    [CONVERSION_MS_TO_S] = 1e-3,
    [CONVERSION_S_TO_MS] = 1e3,
    [CONVERSION_NS_TO_S] = 1e-9,
    [CONVERSION_PERCENT_TO_ONE] = 1e-2,
    [CONVERSION_ONE_TO_PERCENT] = 1e2,
    [CONVERSION_KM_H_TO_M_S] = 1.0 / 3.6,
    [CONVERSION_M_S_TO_KM_H] = 3.6,
};

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    (void)s, (void)at;
    out->y = in->u * (p->conversion == CONVERSION_BY_FACTOR ? p->factor : FACTORS[p->conversion]);
    return 0;
}
