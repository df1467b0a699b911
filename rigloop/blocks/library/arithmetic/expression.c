#include "expression.h"

int step(const Inputs *in, Outputs *out, const Parameters *p, State *s, const Clock *at)
{
    (void)p, (void)s, (void)at;
    out->y = formula_of(in);
    return 0;
}
