/* Guards whose faults reach each other, each stepped by guard_cycle itself, with what it sees of the others as old as it
   likes. N guards; REACH: 0 axis, 1 group (the last one is of another group), 2 all. FOREVER: of endless runs.
   Of another guard only the answer of guard_takes_along is seen, so that bit is all that is kept of its image; of a
   trip, only whether it is none, of the guard's own or of others. */
c_decl {
\#include "rt_core/safety/cycle.h"
/* of a ramp that is up at once and down in two cycles the state says all */
static double gain_in(int state)
{
    return state == GUARD_STOPPING ? 0.5 : guard_is_active(state);
}
}
#define INIT 0
#define READY 1
#define RUNNING 2
#define HOLD 3
#define STOPPING 4
#define FAULT 5
#define OTHERS 13

byte state[N], trip[N];
bool tripped[N], low[N];
bool takes[N], seen[N];                 /* whether it takes others along; as those see it */
byte cause[N];                          /* 0 none, 1 ramps out, 2 drops at once, 3 the sensor is bad */
bool arm, calm;                         /* calm: no further cause, and nobody arms */
byte self, other, pairs;

#define reaches(from, to) (from != to && (REACH == 2 || (REACH == 1 && from < N - 1 && to < N - 1)))

inline step(j) {
    atomic {
        self = j; other = 0; pairs = 0;
        do
        :: pairs < N ->
            if
            :: reaches(pairs, j) && other == 0 && seen[pairs] -> other = pairs + 1
            :: else
            fi;
            pairs++
        :: else -> break
        od;
        pairs = 0;
        c_code {
            struct GuardLimits lim = {1000, 10, 1, 100, 1, 1, 1.0, 0.5, 1000000, 1000000, 1000000, 1000000, 1000000, 1000000,
                                      1000000};
            struct GuardMemory m = {0};
            struct GuardSeen in = {0};
            struct GuardStep done;
            int j = now.self;
            m.state = now.state[j];
            m.gain = gain_in(m.state);
            m.good_nm = 5; m.output_nm = m.gain * m.good_nm;
            m.tripped = now.tripped[j]; m.arm_was_low = now.low[j];
            in.torque_request_nm = 5; in.request_cycle = 1; in.elapsed = 1; in.heartbeat = 1;
            in.sensor_valid = now.cause[j] != 3;
            in.own_fault = now.cause[j] == 1; in.actuator_ready = now.cause[j] != 2;
            in.arm = now.arm; in.other = now.other;
            done = guard_cycle(&m, &lim, &in, 0);
            if (m.gain != gain_in(m.state)) uerror("a gain that the model does not keep");
            now.state[j] = m.state;
            now.tripped[j] = m.tripped; now.low[j] = m.arm_was_low;
            if (done.is_cause || done.armed)
                now.trip[j] = done.found.code == GUARD_NO_TRIP || done.found.code == GUARD_OTHER_TRIPPED
                              ? done.found.code : GUARD_OWN_FAULT;
            now.takes[j] = guard_takes_along(m.state, now.trip[j]);
        }
        /* a guard that is reached is not driven on; one that nobody reaches is never taken along */
        assert(!(other && (state[j] == RUNNING || state[j] == HOLD)));
        assert(!(trip[j] == OTHERS && (REACH == 0 || (REACH == 1 && j == N - 1))));
        assert(!(trip[j] == OTHERS && takes[j]));
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
    :: d_step { seen[me] != takes[me] -> seen[me] = takes[me] }
    od
}

/* until it is calm for good: each guard has a cause of another kind */
active proctype world() {
    do
    :: d_step { cause[0] == 0 -> cause[0] = 1 }
    :: d_step { cause[0] == 0 -> cause[0] = 3 }
    :: d_step { cause[1] == 0 -> cause[1] = 2 }
#if N > 2
    :: d_step { cause[2] == 0 -> cause[2] = 1 }
    :: d_step { cause[2] -> cause[2] = 0 }
#endif
    :: d_step { cause[0] -> cause[0] = 0 }
    :: d_step { cause[1] -> cause[1] = 0 }
    :: arm = !arm
    :: break
    od;
    atomic {
        cause[0] = 0; cause[1] = 0;
#if N > 2
        cause[2] = 0;
#endif
        arm = false; calm = true
    }
}

init {
    atomic {
        run guard(0); run guard(1); run image(0); run image(1);
#if N > 2
        run guard(2); run image(2)
#endif
    }
}

#if FOREVER
#if N > 2
#define all_ready (state[0] == READY && state[1] == READY && state[2] == READY)
#else
#define all_ready (state[0] == READY && state[1] == READY)
#endif
/* no guards hold each other: once nothing is wrong and arm is low, all get ready and stay so */
ltl released { [] (calm -> <> [] all_ready) }
#endif
