// Put before the C library, the time of the day stands still: all that a page tells of it is the same at each run. Spans are measured as
// ever, and who waits until a moment a little later waits so long. libfaketime will not do: it leaves out the C11 threads of librdkafka,
// whose waits are over at once by it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static time_t moment;
static int (*wait_until)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

__attribute__((constructor)) static void begin(void) {
    moment = atoll(getenv("STILL_CLOCK"));
    // The older version of this name has another layout of conditions.
    wait_until = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
    if (!wait_until) wait_until = dlsym(RTLD_NEXT, "pthread_cond_timedwait");
}

int clock_gettime(clockid_t clock, struct timespec *at) {
    if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return (int)syscall(SYS_clock_gettime, clock, at);
    *at = (struct timespec){.tv_sec = moment};
    return 0;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
    struct timespec end = *until, now;
    // Reckoned from the moment, not from the time that it is or the machine's start.
    if (labs(end.tv_sec - moment) < 86400 && syscall(SYS_clock_gettime, CLOCK_REALTIME, &now) == 0) {
        end.tv_sec += now.tv_sec - moment;
        end.tv_nsec += now.tv_nsec;
        if (end.tv_nsec >= 1000000000) end.tv_sec += 1, end.tv_nsec -= 1000000000;
    }
    return wait_until(condition, mutex, &end);
}
