/* push_ring of rt_core/shared.pxd and RingReader of rt_core/signals/table.pyx: what is taken out is what was put in, in
   order, and produced = written + dropped. */
#define PLACES 5        /* two slots of two words, and `written` */
#define WRITTEN 4
#define MOST 8
#define PUSHES 5
#define SLOTS 2
#include "memory.pml"

byte consumed, put_in[8], dropped, wrote;

active proctype writer() {
    byte t = 1;
    do
    :: t <= PUSHES ->
        if
        :: wrote - consumed >= (CHECKS_FULL -> SLOTS : 200) -> dropped++
        :: else ->
            put_in[wrote] = t;
            store((wrote & 1) * 2, t, 0);
            store((wrote & 1) * 2 + 1, t, 0);
            wrote++;
            store(WRITTEN, wrote, STORE_RELEASE)
        fi;
        t++
    :: else -> break
    od;
    assert(wrote + dropped == PUSHES)
}

active proctype reader() {
    byte mine, seen, got, a, b;
    byte early[4];
    bool is_early;
end:
    do
    :: mine < PUSHES ->
        is_early = false;
#if !LOAD_ACQUIRE
        if
        :: early[0] = cell[0]; early[1] = cell[1]; early[2] = cell[2]; early[3] = cell[3]; is_early = true
        :: skip
        fi;
#endif
        (cell[WRITTEN] > mine);
        seen = cell[WRITTEN];
        assert(seen - mine <= SLOTS);
        got = 0;
        do
        :: !(got & 1) -> a = (is_early -> early[(mine & 1) * 2] : cell[(mine & 1) * 2]); got = got | 1
        :: !(got & 2) -> b = (is_early -> early[(mine & 1) * 2 + 1] : cell[(mine & 1) * 2 + 1]); got = got | 2
        /* without a release the writer may see the slot free before it was read */
        :: !(got & 4) && (!CONSUME_RELEASE || (got & 3) == 3) -> consumed = mine + 1; got = got | 4
        :: got == 7 -> break
        od;
        assert(a == put_in[mine] && b == put_in[mine]);
        mine++
    :: else -> break
    od
}
