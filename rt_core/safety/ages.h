/* Times of a guard: what has passed since the cycle before, and for how long something is bad. */
#ifndef RT_CORE_SAFETY_AGES_H
#define RT_CORE_SAFETY_AGES_H

#include <stdint.h>

static const int64_t GUARD_LONGEST_NS = 1000000000000000;    /* eleven days: ages stop there */

static inline int64_t guard_older(int64_t age_ns, int64_t passed_ns)
{
    return age_ns + passed_ns < GUARD_LONGEST_NS ? age_ns + passed_ns : GUARD_LONGEST_NS;
}

/* By the clock (`clock_ns` since the cycle before) or by `elapsed`, whichever says more; a period at least. */
static inline int64_t guard_passed_ns(int64_t period_ns, int64_t clock_ns, double elapsed)
{
    const double longest = (double)GUARD_LONGEST_NS / (double)period_ns;
    int64_t passed_ns = clock_ns > period_ns ? clock_ns : period_ns;
    int64_t elapsed_ns;
    if (!(elapsed <= longest)) return GUARD_LONGEST_NS;
    if (elapsed > 1) {
        elapsed_ns = (int64_t)(elapsed * (double)period_ns);
        if (elapsed_ns > passed_ns) passed_ns = elapsed_ns;
    }
    return passed_ns < GUARD_LONGEST_NS ? passed_ns : GUARD_LONGEST_NS;
}

/* A first bad one counts as a period: the gap before it has its own limit. */
static inline int64_t guard_bad_for_ns(int64_t before_ns, int good, int64_t passed_ns, int64_t period_ns)
{
    if (good) return 0;
    return before_ns == 0 ? period_ns : guard_older(before_ns, passed_ns);
}

#endif
