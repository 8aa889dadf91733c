#include <xlsxwriter.h>

// Glibc has it for GNU sources only: a file that is memory, and goes with its descriptor.
int memfd_create(const char *name, unsigned int flags);
static inline int drover_memory_file(const char *name) { return memfd_create(name, 1 /* MFD_CLOEXEC */); }
