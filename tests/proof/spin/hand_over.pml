/* take, release and exchange_safe of io_bridge/exchange/cycle.pyx: once the watchdog has sent safe outputs, no torque
   leaves, and its own frame is safe in every word. */
#define PLACES 3        /* two words of the frame, and `owner` */
#define OWNER 2
#define MOST 8
#include "memory.pml"

#define NOBODY 0
#define CYCLE 2
#define WATCHDOG 3
#define SAFE 0
#define TORQUE 1

/* a store of the cycle to `owner` that has not reached memory */
#define is_giving (place[0] == OWNER || place[1] == OWNER || place[2] == OWNER || place[3] == OWNER || \
                   place[4] == OWNER || place[5] == OWNER || place[6] == OWNER || place[7] == OWNER)

bool safe_sent;

active proctype cycle() {
    byte cycles;
    do
    :: cycles < 2 ->
        cycles++;
        /* a compare-exchange comes after stores of its own thread to the same place, and maybe before others: of
           the orders of `take` only the acquire is asked for */
        if
        :: d_step { cell[OWNER] == NOBODY && (!is_giving || !CYCLE_TAKES) -> cell[OWNER] = CYCLE }
        :: cell[OWNER] != NOBODY && !is_giving -> if :: CYCLE_TAKES -> goto next :: else fi
        fi;
        store(0, TORQUE, 0);
        store(1, TORQUE, 0);
        assert(!safe_sent);             /* a frame with torque leaves */
        store(OWNER, NOBODY, RELEASES);
next:   skip
    :: else -> break
    od
}

active proctype watchdog() {
    byte ticks, a, b;
    bool is_early;
    do
    :: ticks < 2 ->
        ticks++;
#if !TAKE_ACQUIRE
        /* what comes after the take may come before it */
        if
        :: cell[0] = SAFE; cell[1] = SAFE; is_early = true
        :: is_early = false
        fi;
#endif
        if
        :: d_step { cell[OWNER] == NOBODY -> cell[OWNER] = WATCHDOG }
        :: cell[OWNER] == WATCHDOG
        :: cell[OWNER] == CYCLE -> if :: WATCHDOG_TAKES -> goto next :: else fi
        fi;
        if :: is_early :: else -> cell[0] = SAFE; cell[1] = SAFE fi;
        a = cell[0];
        b = cell[1];
        assert(a == SAFE && b == SAFE);
        safe_sent = true;
#if !KEEPS
        cell[OWNER] = NOBODY;
#endif
next:   skip
    :: else -> break
    od
}
