/* publish_latest and read_latest of rt_core/shared.pxd: an image that is taken for number s is that of number s.
   The macros in capitals say which orders the source asks for. */
#define PLACES 5        /* two slots of two words, and `latest` */
#define LATEST 4
#define MOST 12
#define IMAGES 4
#include "memory.pml"

active proctype writer() {
    byte s = 1;
    do
    :: s <= IMAGES ->
#if FENCE_RELEASE
        fence();
#endif
        store((s & 1) * 2, s, 0);
        store((s & 1) * 2 + 1, s, 0);
        store(LATEST, s, STORE_RELEASE);
        s++
    :: else -> break
    od
}

active proctype reader() {
    byte s, again, got, a, b;
    byte early[4];
    bool is_early;
#if !LOAD_ACQUIRE
    /* what is loaded after `latest` may have been loaded before it */
    if
    :: early[0] = cell[0]; early[1] = cell[1]; early[2] = cell[2]; early[3] = cell[3]; is_early = true
    :: skip
    fi;
#endif
    s = cell[LATEST];
    if :: s == 0 -> goto done :: else fi;
    do
    :: !(got & 1) -> a = (is_early -> early[(s & 1) * 2] : cell[(s & 1) * 2]); got = got | 1
    :: !(got & 2) -> b = (is_early -> early[(s & 1) * 2 + 1] : cell[(s & 1) * 2 + 1]); got = got | 2
    /* without a fence the second look may come before the words */
    :: !(got & 4) && (!FENCE_ACQUIRE || (got & 3) == 3) -> again = cell[LATEST]; got = got | 4
    :: got == 7 -> break
    od;
    if
    :: !LOOK_AGAIN || again == s -> assert(a == s && b == s)
    :: else
    fi;
done:
    skip
}
