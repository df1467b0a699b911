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

bool safe_sent;

active proctype cycle() {
    byte cycles;
    do
    :: cycles < 2 ->
        cycles++;
        /* a compare-exchange looks at memory, and past stores of its own to the same place */
        if
        :: d_step { cell[OWNER] == NOBODY && (n == 0 || !CYCLE_TAKES) -> cell[OWNER] = CYCLE }
        :: cell[OWNER] != NOBODY -> if :: CYCLE_TAKES -> goto next :: else fi
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
    do
    :: ticks < 2 ->
        ticks++;
        if
        :: d_step { cell[OWNER] == NOBODY -> cell[OWNER] = WATCHDOG }
        :: cell[OWNER] == WATCHDOG
        :: cell[OWNER] == CYCLE -> if :: WATCHDOG_TAKES -> goto next :: else fi
        fi;
        cell[0] = SAFE;
        cell[1] = SAFE;
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
