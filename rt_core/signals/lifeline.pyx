"""The life of a process as a word in a signal table; see lifeline.pyi."""
import os

from libc.stdint cimport int64_t

from rt_core.signals.table cimport SignalTable

cdef extern from *:
    """
    #include <errno.h>
    #include <linux/futex.h>
    #include <pthread.h>
    #include <sched.h>
    #include <semaphore.h>
    #include <signal.h>
    #include <stdint.h>
    #include <sys/syscall.h>
    #include <unistd.h>

    typedef struct {
        struct robust_list_head head;
        struct robust_list held;
        int32_t *word;
        pthread_t id;
        sem_t begun, over;
        pid_t process;
        int status;
    } lifeline;

    static void *lifeline_hold(void *argument)
    {
        lifeline *line = argument;
        const struct sched_param lowest = {.sched_priority = 1};
        line->head.list.next = &line->held;
        line->head.futex_offset = (char *)line->word - (char *)&line->held;
        line->head.list_op_pending = NULL;
        line->held.next = &line->head.list;
        /* in place of the list of the C library, which this thread never uses */
        if (syscall(SYS_set_robust_list, &line->head, sizeof line->head))
            line->status = errno;
        else
            __atomic_store_n(line->word, (int32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
        /* a busy machine lets it die at once; without the right to that it dies as any other thread */
        pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest);
        sem_post(&line->begun);
        while (sem_wait(&line->over)) {}
        line->head.list.next = &line->head.list;
        return NULL;
    }

    static int lifeline_begin(lifeline *line, void *word)
    {
        sigset_t all, before;
        pthread_attr_t attributes;
        int status;
        line->word = word;
        line->process = getpid();
        line->status = 0;
        sem_init(&line->begun, 0, 0);
        sem_init(&line->over, 0, 0);
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, 64 << 10);
        /* signals are for the other threads */
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        status = pthread_create(&line->id, &attributes, lifeline_hold, line);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&attributes);
        if (status) return status;
        while (sem_wait(&line->begun)) {}
        if (line->status) {
            sem_post(&line->over);
            pthread_join(line->id, NULL);
        }
        return line->status;
    }

    static void lifeline_end(lifeline *line)
    {
        /* one that was forked has no such thread, and the word is not its own */
        if (line->process != getpid()) return;
        __atomic_store_n(line->word, 0, __ATOMIC_RELEASE);
        sem_post(&line->over);
        pthread_join(line->id, NULL);
    }
    """
    ctypedef struct lifeline:
        pass
    int lifeline_begin(lifeline *line, void *word)
    void lifeline_end(lifeline *line) nogil


cdef class Lifeline:
    """See lifeline.pyi."""

    cdef SignalTable table
    cdef lifeline line

    def __init__(self, SignalTable table):
        if not table.writable:
            raise ValueError(f"{table.path}: attached for reading; attach with writable=True")
        table.hold()
        cdef int status = lifeline_begin(&self.line, table.words + <int64_t>table.layout.life)
        if status:
            table.users -= 1
            raise OSError(status, os.strerror(status))
        self.table = table

    def end(self):
        if self.table is None:
            return
        with nogil:
            lifeline_end(&self.line)
        self.table.users -= 1
        self.table = None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.end()

    def __dealloc__(self):
        if self.table is not None:
            lifeline_end(&self.line)


def has_died(SignalTable table):
    return bool(table.words[<int64_t>table.layout.life] & 0x40000000)
