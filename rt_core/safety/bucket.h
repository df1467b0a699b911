/* The leaky bucket of the guard and of the bus. */
#ifndef RT_CORE_SAFETY_BUCKET_H
#define RT_CORE_SAFETY_BUCKET_H

#include <stdint.h>

/* Bad time or a bad cycle pours in, to the top at most; a good one drains. */
static inline int64_t bucket_after(int64_t level, int64_t pour, int64_t drain, int64_t top)
{
    if (pour > 0) return level + pour < top ? level + pour : top;
    return level > drain ? level - drain : 0;
}

#endif
