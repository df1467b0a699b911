/* The least that an exchange on an AF_PACKET socket costs: send a frame, wait for it, at a period. Nothing is
   packed, checked or unpacked.

   ping_pong INTERFACE FRAME PERIOD_US COUNT PRIORITY CORE OUT
   OUT: int64 ns of each exchange, 0 where no reply came within a period. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

enum { ETHERCAT = 0x88A4, IGNORE_OUTGOING = 23, MOST = 1514, INDEX_AT = 17 };

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int fail(const char *what)
{
    fprintf(stderr, "ping_pong: %s: %s\n", what, strerror(errno));
    return 1;
}

int main(int n, char **arguments)
{
    if (n != 8)
        return fprintf(stderr, "ping_pong INTERFACE FRAME PERIOD_US COUNT PRIORITY CORE OUT\n"), 2;
    unsigned char frame[MOST], reply[MOST];
    FILE *file = fopen(arguments[2], "rb");
    if (!file)
        return fail(arguments[2]);
    const size_t size = fread(frame, 1, MOST, file);
    fclose(file);
    const int64_t period = 1000 * atoll(arguments[3]);
    const int count = atoi(arguments[4]);
    struct sched_param param = {.sched_priority = atoi(arguments[5])};
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(atoi(arguments[6]), &cores);
    int64_t *taken = calloc(count, sizeof *taken);
    const int one = 1, line = socket(AF_PACKET, SOCK_RAW, 0);
    struct sockaddr_ll place = {.sll_family = AF_PACKET, .sll_protocol = htons(ETHERCAT)};
    place.sll_ifindex = if_nametoindex(arguments[1]);
    if (line < 0 || setsockopt(line, SOL_PACKET, IGNORE_OUTGOING, &one, sizeof one)
        || bind(line, (struct sockaddr *)&place, sizeof place))
        return fail(arguments[1]);
    if (sched_setaffinity(0, sizeof cores, &cores) || sched_setscheduler(0, SCHED_FIFO, &param)
        || mlockall(MCL_CURRENT | MCL_FUTURE))
        return fail("rights");
    struct pollfd waiting = {line, POLLIN, 0};
    int64_t next = now_ns();
    for (int k = 0; k < count; k++) {
        next += period;
        const struct timespec wake = {next / 1000000000, next % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
        while (recv(line, reply, MOST, MSG_DONTWAIT) > 0)
            ;
        const int64_t begin = now_ns();
        if (send(line, frame, size, MSG_DONTWAIT) != (ssize_t)size)
            return fail("send");
        for (;;) {
            if (recv(line, reply, MOST, MSG_DONTWAIT) == (ssize_t)size && reply[INDEX_AT] == frame[INDEX_AT]) {
                taken[k] = now_ns() - begin;
                break;
            }
            const int64_t left = begin + period - now_ns();
            if (left <= 0)
                break;
            const struct timespec rest = {0, left};
            ppoll(&waiting, 1, &rest, NULL);
        }
        while (next < now_ns() - period)
            next += period;
    }
    file = fopen(arguments[7], "wb");
    if (!file || fwrite(taken, sizeof *taken, count, file) != (size_t)count || fclose(file))
        return fail(arguments[7]);
    return 0;
}
