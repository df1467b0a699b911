/* A block that does, in its cycle, what none may: the control of the counters. */
#include <stdint.h>
#include <stdlib.h>
extern int PyGILState_Ensure(void);
extern void PyGILState_Release(int);
struct bad { double *count; };
int step_bad(void *self, int64_t t_ns) {
    struct bad *bad = self;
    volatile char *p = malloc(64);
    p[0] = 1;
    free((void *)p);
    PyGILState_Release(PyGILState_Ensure());
    *bad->count += 1;
    return 0;
}
