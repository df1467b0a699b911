/* Several guards whose faults reach each other, each stepped by guard_cycle itself, with what it sees of the others as
   old as it likes. REACH: 0 axis, 2 all. FOREVER: of endless runs. */
#define N 2
c_decl {
\#include "rt_core/safety/cycle.h"
}
#define INIT 0
#define READY 1
#define RUNNING 2
#define HOLD 3
#define STOPPING 4
#define FAULT 5

byte state[N], trip[N], halves[N];      /* halves of the ramp's gain */
bool tripped[N], low[N];
byte seen_state[N], seen_trip[N];       /* as the others see it */
byte cause[N];                          /* 0 none, 1 ramps out, 2 drops at once, 3 the sensor is bad */
bool arm, calm;                         /* calm: no further cause, and nobody arms */
byte self, other, pairs;

#define reaches(from, to) (from != to && REACH == 2)

inline step(j) {
    atomic {
        self = j; other = 0; pairs = 0;
        do
        :: pairs < N ->
            if
            :: reaches(pairs, j) && other == 0 ->
                c_code { if (guard_takes_along(now.seen_state[now.pairs], now.seen_trip[now.pairs])) now.other = now.pairs + 1; }
            :: else
            fi;
            pairs++
        :: else -> break
        od;
        pairs = 0;
        c_code {
            struct GuardLimits lim = {1000, 10, 1, 100, 1, 1, 0.5, 0.5, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000,
                                      1000000};
            struct GuardMemory m = {0};
            struct GuardSeen in = {0};
            struct GuardStep done;
            int j = now.self;
            m.state = now.state[j]; m.gain = 0.5 * now.halves[j]; m.good_nm = 5; m.output_nm = m.gain * m.good_nm;
            m.tripped = now.tripped[j]; m.arm_was_low = now.low[j];
            in.torque_request_nm = 5; in.request_cycle = 1; in.elapsed = 1; in.heartbeat = 1;
            in.sensor_valid = now.cause[j] != 3;
            in.own_fault = now.cause[j] == 1; in.actuator_ready = now.cause[j] != 2;
            in.arm = now.arm; in.other = now.other;
            done = guard_cycle(&m, &lim, &in, 0);
            now.state[j] = m.state; now.halves[j] = (int)(2 * m.gain + 0.5);
            now.tripped[j] = m.tripped; now.low[j] = m.arm_was_low;
            if (done.is_cause || done.armed) now.trip[j] = done.found.code;
        }
        /* a guard that is reached is not driven on; one that nobody reaches is never taken along */
        assert(!(other && (state[j] == RUNNING || state[j] == HOLD)));
        assert(!(trip[j] == 13 && REACH == 0));
        assert(!((state[j] == INIT || state[j] == READY || state[j] == FAULT) && halves[j]));
        self = 0; other = 0
    }
}

proctype guard(byte me) {
    do
    :: step(me)
    od
}

proctype image(byte me) {
end:
    do
    :: d_step { seen_state[me] != state[me] || seen_trip[me] != trip[me] ->
                seen_state[me] = state[me]; seen_trip[me] = trip[me] }
    od
}

/* until it is calm for good */
active proctype world() {
    do
    :: d_step { cause[0] == 0 -> cause[0] = 1 }
    :: d_step { cause[0] == 0 -> cause[0] = 3 }
    :: d_step { cause[1] == 0 -> cause[1] = 2 }
    :: d_step { cause[0] -> cause[0] = 0 }
    :: d_step { cause[1] -> cause[1] = 0 }
    :: arm = !arm
    :: break
    od;
    atomic { cause[0] = 0; cause[1] = 0; arm = false; calm = true }
}

#if FOREVER
init { atomic { run guard(0); run guard(1); run image(0); run image(1) } }

#define all_ready (state[0] == READY && state[1] == READY)
/* no two guards hold each other: once nothing is wrong and arm is low, all get ready and stay so */
ltl released { [] (calm -> <> [] all_ready) }
#else
init {
    atomic {
        run guard(0); run guard(1); run image(0); run image(1)
    }
}
#endif
