/* A wall clock that can be set for a few processes: preloaded, it adds the seconds in a file to what the kernel says.
 * The file is that of CLOCK_AHEAD in the environment, else AHEAD, given at compile time; 0 where it is missing.
 * Clocks that only run (CLOCK_MONOTONIC and such) are the kernel's, as where somebody sets the clock. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long ahead(void) {
    char text[32] = "";
    int before = errno;
    const char *path = getenv("CLOCK_AHEAD");
    int file = open(path ? path : AHEAD, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        if (read(file, text, sizeof text - 1) < 0) text[0] = 0;
        close(file);
    }
    errno = before;
    return atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += ahead();
    return failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec precise;
    int failed = clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return failed;
}

time_t time(time_t *also) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (also) *also = precise.tv_sec;
    return precise.tv_sec;
}
