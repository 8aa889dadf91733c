/* glibc's C11 threads go past Thread Sanitizer, which knows only the POSIX calls: a thread of librdkafka that
   allocates then crashes inside the sanitizer. Preloaded, this makes them POSIX threads, mutexes and conditions, which
   they are in glibc anyway (the types have the same layout). Only for `make sanitize`. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

struct start {
    thrd_start_t body;
    void *argument;
};

static void *run(void *opaque) {
    struct start start = *(struct start *)opaque;
    free(opaque);
    return (void *)(long)start.body(start.argument);
}

static int outcome(int error) {
    return error == 0 ? thrd_success : error == ETIMEDOUT ? thrd_timedout : error == EBUSY ? thrd_busy : thrd_error;
}

int thrd_create(thrd_t *thread, thrd_start_t body, void *argument) {
    struct start *start = malloc(sizeof *start);
    if (!start) return thrd_nomem;
    *start = (struct start){body, argument};
    int error = pthread_create(thread, NULL, run, start);
    if (error) free(start);
    return outcome(error);
}

int thrd_join(thrd_t thread, int *result) {
    void *value;
    int error = pthread_join(thread, &value);
    if (!error && result) *result = (int)(long)value;
    return outcome(error);
}

int thrd_detach(thrd_t thread) { return outcome(pthread_detach(thread)); }

int mtx_init(mtx_t *mutex, int type) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (type & mtx_recursive) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    int error = pthread_mutex_init((pthread_mutex_t *)mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return outcome(error);
}

void mtx_destroy(mtx_t *mutex) { pthread_mutex_destroy((pthread_mutex_t *)mutex); }
int mtx_lock(mtx_t *mutex) { return outcome(pthread_mutex_lock((pthread_mutex_t *)mutex)); }
int mtx_trylock(mtx_t *mutex) { return outcome(pthread_mutex_trylock((pthread_mutex_t *)mutex)); }
int mtx_unlock(mtx_t *mutex) { return outcome(pthread_mutex_unlock((pthread_mutex_t *)mutex)); }

int cnd_init(cnd_t *condition) { return outcome(pthread_cond_init((pthread_cond_t *)condition, NULL)); }
void cnd_destroy(cnd_t *condition) { pthread_cond_destroy((pthread_cond_t *)condition); }
int cnd_signal(cnd_t *condition) { return outcome(pthread_cond_signal((pthread_cond_t *)condition)); }
int cnd_broadcast(cnd_t *condition) { return outcome(pthread_cond_broadcast((pthread_cond_t *)condition)); }

int cnd_wait(cnd_t *condition, mtx_t *mutex) {
    return outcome(pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex));
}

int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until) {
    return outcome(pthread_cond_timedwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, until));
}
