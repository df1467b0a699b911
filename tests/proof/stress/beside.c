/* Threads beside each other through the functions of the sources (sources.h), with a delay now and then before each
   atomic operation:  beside latest|ring|hand-over SECONDS SEED.  Prints counts; exit code 1 at the first wrong value. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static __thread uint64_t drawn;

static void delayed(void)
{
    drawn ^= drawn << 13; drawn ^= drawn >> 7; drawn ^= drawn << 17;
    if ((drawn & 0xFFFF) == 0) usleep(50);
    else if ((drawn & 0x1FF) == 0) sched_yield();
    else if ((drawn & 7) == 0) for (volatile int i = (drawn >> 16) & 63; i > 0; i--) {}
}

#include "sources.h"

enum { CELLS = 6, SLOTS = 4, ROW = 1 + CELLS, SAFE = 0, TORQUE = 1, NOBODY = 0, CYCLE = 2, WATCHDOG = 3 };
static int64_t latest[LINE_WORDS + 2 * CELLS], ring[RING_HEAD_WORDS + SLOTS * ROW];
static int64_t frame[CELLS], produced, good, torn;
static int owner, safe_sent, over;
static uint64_t seed;
static pthread_barrier_t round_begins, round_ends;

static void wrong(const char *words) { printf("wrong: %s\n", words); fflush(stdout); _exit(1); }
static void count(int64_t *what) { __atomic_store_n(what, *what + 1, __ATOMIC_RELAXED); }
static int is_over(void) { return __atomic_load_n(&over, __ATOMIC_RELAXED); }
static void fill(int64_t *to, int64_t value) { for (int i = 0; i < CELLS; i++) to[i] = value; }
static int all_are(const int64_t *of, int64_t value)
{
    for (int i = 0; i < CELLS; i++) if (of[i] != value) return 0;
    return 1;
}

static void *latest_writer(void *unused)
{
    int64_t image[CELLS];
    drawn = seed;
    while (!is_over()) { fill(image, ++produced); publish_latest(latest, CELLS, image, CELLS); }
    return unused;
}

static void *latest_reader(void *unused)
{
    int64_t out[CELLS], before = 0;
    drawn = seed + 1;
    while (!is_over()) {
        int64_t s = read_latest(latest, CELLS, NULL, CELLS, out);
        if (s < 0) { torn++; continue; }
        if (s < before) wrong("an image is older than the one before");
        if (s > 0 && !all_are(out, s)) wrong("an image is taken for one that it is not");
        before = s;
        if (s > 0) count(&good);
    }
    return unused;
}

static void *ring_writer(void *unused)
{
    int64_t image[CELLS];
    drawn = seed;
    while (!is_over()) { fill(image, ++produced); push_ring(ring, SLOTS, produced, image, CELLS); }
    return unused;
}

/* as RingReader: all that are there, then they are free */
static void *ring_reader(void *unused)
{
    int64_t consumed = 0, before = 0;
    drawn = seed + 1;
    while (!is_over()) {
        int64_t n = LOAD_ACQUIRE(ring + WRITTEN) - consumed;
        if (n > SLOTS) wrong("more rows than slots");
        for (int64_t k = consumed; k < consumed + n; k++) {
            const int64_t *row = ring + RING_HEAD_WORDS + (k & (SLOTS - 1)) * ROW;
            if (row[0] <= before) wrong("a row is not newer than the one before");
            if (!all_are(row + 1, row[0])) wrong("a row is of two cycles");
            before = row[0];
            count(&good);
        }
        consumed += n;
        STORE_RELEASE(ring + CONSUMED, consumed);
    }
    return unused;
}

/* as exchange_step and exchange_safe: a round ends with the watchdog's frame */
static void *cycle(void *unused)
{
    drawn = seed;
    for (;;) {
        pthread_barrier_wait(&round_begins);
        if (over) return unused;
        for (int i = 0; i < 8; i++) {
            delayed();
            if (!take(&owner, CYCLE)) continue;
            fill(frame, TORQUE);
            delayed();
            if (__atomic_load_n(&safe_sent, __ATOMIC_ACQUIRE)) wrong("torque leaves after safe outputs");
            delayed();
            release(&owner);
        }
        pthread_barrier_wait(&round_ends);
    }
}

static void *watchdog(void *unused)
{
    drawn = seed + 1;
    for (;;) {
        pthread_barrier_wait(&round_begins);
        if (over) return unused;
        for (int i = 0; i < 8; i++) {
            delayed();
            if (!owns(&owner, WATCHDOG) && !take(&owner, WATCHDOG)) { torn++; continue; }
            fill(frame, SAFE);
            delayed();
            if (!all_are(frame, SAFE)) wrong("the watchdog's frame is not safe");
            __atomic_store_n(&safe_sent, 1, __ATOMIC_RELEASE);
            count(&good);
        }
        pthread_barrier_wait(&round_ends);
    }
}

/* At least this long, and until something was taken: the processor may be away. */
static int goes_on(double seconds)
{
    static struct timespec begin;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (begin.tv_sec == 0) begin = now;
    return now.tv_sec - begin.tv_sec + 1e-9 * (now.tv_nsec - begin.tv_nsec) < seconds
           || __atomic_load_n(&good, __ATOMIC_RELAXED) == 0;
}

static void rounds(double seconds)
{
    while (goes_on(seconds)) {
        owner = NOBODY; safe_sent = 0; produced++;
        pthread_barrier_wait(&round_begins);
        pthread_barrier_wait(&round_ends);
    }
    over = 1;
    pthread_barrier_wait(&round_begins);
}

int main(int n, char **words)
{
    pthread_t one, other;
    int hands_over;
    if (n != 4) return 2;
    hands_over = !strcmp(words[1], "hand-over");
    seed = 0x9E3779B97F4A7C15u + 2 * strtoull(words[3], NULL, 10);
    pthread_barrier_init(&round_begins, NULL, 3);
    pthread_barrier_init(&round_ends, NULL, 3);
    pthread_create(&one, NULL, hands_over ? cycle : *words[1] == 'l' ? latest_writer : ring_writer, NULL);
    pthread_create(&other, NULL, hands_over ? watchdog : *words[1] == 'l' ? latest_reader : ring_reader, NULL);
    if (hands_over) rounds(atof(words[2]));
    else {
        while (goes_on(atof(words[2]))) usleep(1000);
        __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    }
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    if (*words[1] == 'r' && produced != ring[WRITTEN] + ring[DROPPED]) wrong("produced is not written + dropped");
    printf("%ld made, %ld taken, %ld tried again\n", (long)produced, (long)good, (long)torn);
    return 0;
}
