/* The fault of a cycle of the bus, of what was found in it: worst first. */
#ifndef IO_BRIDGE_SLAVES_BUS_FAULT_H
#define IO_BRIDGE_SLAVES_BUS_FAULT_H

#include <stdint.h>

#include "rt_core/safety/bucket.h"

enum BusFault {                  /* codes of a step */
    BUS_NO_FAULT = 0,
    BUS_NOT_READY = 1,
    BUS_LOST_FRAMES = 2,
    BUS_WKC_WRONG = 3,
    BUS_STALE = 4,
    BUS_LEFT_OP = 5,
    BUS_DRIVE_FAULT = 6,
    BUS_COMMAND_BAD = 7,
    BUS_CLOCK_OFF = 8
};

/* A bad cycle pours `leak` into the bucket, a good one takes one out. */
static inline int64_t bus_level_after(int good, int64_t level, int64_t leak, int64_t brim)
{
    return bucket_after(level, good ? 0 : leak, 1, brim);
}

/* Bad cycles have filled the bucket. */
static inline int bus_is_lost(int good, int64_t level, int64_t brim)
{
    return !good && level >= brim;
}

/* `cause`: why the last bad cycle was bad; `before`: fault of the cycle before, which a cycle that saw nothing does not
   clear. */
static inline int bus_fault(int good, int lost, int of_slaves, int cause, int of_data, int before, int of_command)
{
    if (of_slaves != BUS_NO_FAULT) return of_slaves;
    if (lost) return cause;
    if (good && of_data != BUS_NO_FAULT) return of_data;
    if (!good && before != BUS_NO_FAULT && before != BUS_COMMAND_BAD) return before;
    return of_command;
}

#endif
