/* The C library's event queue, which the Glibc module leaves out. */
#include <sys/epoll.h>
