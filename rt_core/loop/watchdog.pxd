"""A thread above all tasks that takes the outputs away from a task that stands still.

It looks every TICK_NS at the deadline that each task waits for or works on. A task that shows the
same deadline in two consecutive looks, with more than its `stall_ns` gone since, stands still. Two
looks, because a host that takes the whole machine away makes everything stand still: then the
watchdog is late itself, forgets its findings, and the tasks run on before it looks
again. So a stall is seen within `stall_ns` and two ticks.

It then reports once which task stood still and when, and asks the loop to stop. If that task has actuators,
it calls the safe entry of each bus block of that task, itself, in that look and at each tick from then on. It
goes on looking: a task that hangs keeps its core from others of less priority, and the drives of those are
taken in the same way.

It also stops the loop when SIGTERM or SIGINT waits for the process, where all of its threads block these two,
and when the kernel has marked the lifeline of the supervisor (rt_core/signals/lifeline.pyi). Neither needs a
thread of low priority: the end of the torque after the death of the supervisor does not depend on what else
the machine does.
"""
from libc.stdint cimport int64_t

from rt_core.block cimport BlockView
from rt_core.loop.task cimport Shared, Thread
from rt_core.loop.thread cimport pthread_t

cdef enum:
    TICK_NS = 2000000
    PRIORITY = 95
    OWNER_DIED = 0x40000000      # the kernel's mark in a robust futex
    MOST_SAFE = 16               # bus blocks

cdef struct Guarded:             # a bus block that can send safe outputs, and the task that steps it
    int task
    bint taken                   # the task stood still: the watchdog serves the bus from then on
    int64_t sent                 # safe outputs sent
    BlockView *safe

cdef struct Watchdog:
    pthread_t id
    bint created
    int64_t ready
    int64_t end
    Shared *shared
    Thread *threads
    int n
    int64_t *seen                # deadline of each task at the last look
    int64_t *before              # the same, of looks that were forgotten too
    int64_t *kept_ns             # since its time was over: what looks that came too late to say anything have cost
    const int64_t *life          # the word of a lifeline; NULL: there is none
    int64_t orphaned             # the lifeline's process has died
    Guarded guarded[MOST_SAFE]
    int n_guarded
    int64_t stalled              # 1 + the task that stood still first; written last, 0: none did
    int64_t stalled_cycle
    int64_t stalled_ns           # for how long, when it was seen
    int64_t stalled_kept_ns      # of that the watchdog itself had no processor, or was blind
    int64_t sent                 # safe outputs sent to all of them


cdef int spawn_watchdog(Watchdog *watchdog, bint fifo, object core) except -1
cdef void end_watchdog(Watchdog *watchdog) noexcept
