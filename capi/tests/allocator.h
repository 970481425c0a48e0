// The allocator of the tests of memory, which counts allocations of a thread and refuses some.
//
// It sees all that the library, the standard library of Rust, and the C library allocate in a call,
// such as for variables of a thread, and the memory of reserved addresses. It needs glibc.

#ifndef ALLOCATOR_H
#define ALLOCATOR_H

#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

// Whether allocations of this thread are counted, how many there were, and the numbers of the first
// one that is refused and of the first one after it that is not.
static _Thread_local bool watched;
static _Thread_local long count, refused_from, refused_until;
// Allocations of this thread that it has not freed, but for those of `mmap`.
static _Thread_local long live;

static bool refuse(void) {
    if (!watched) return false;
    long number = count++;
    if (number < refused_from || number >= refused_until) return false;
    errno = ENOMEM;
    return true;
}

static void *counted(void *memory) {
    live += watched && memory != NULL;
    return memory;
}

void *malloc(size_t size) { return refuse() ? NULL : counted(__libc_malloc(size)); }
void *calloc(size_t n, size_t size) { return refuse() ? NULL : counted(__libc_calloc(n, size)); }
void *realloc(void *old, size_t size) {
    if (refuse()) return NULL;
    void *memory = __libc_realloc(old, size);
    return old == NULL ? counted(memory) : memory;
}
void *memalign(size_t align, size_t size) {
    return refuse() ? NULL : counted(__libc_memalign(align, size));
}
void *aligned_alloc(size_t align, size_t size) { return memalign(align, size); }
void free(void *memory) {
    live -= watched && memory != NULL;
    __libc_free(memory);
}

int posix_memalign(void **memory, size_t align, size_t size) {
    void *found = memalign(align, size);
    if (found != NULL) *memory = found;
    return found != NULL ? 0 : ENOMEM;
}

void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
    if (refuse()) return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, size, protection, flags, file, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int file, off_t offset) {
    return mmap(at, size, protection, flags, file, offset);
}

// Memory that becomes accessible. To protect memory takes none.
int mprotect(void *at, size_t size, int protection) {
    if ((protection & PROT_WRITE) != 0 && refuse()) return -1;
    return (int)syscall(SYS_mprotect, at, size, protection);
}

// Counts allocations from now on, and refuses some.
static void watch(long from, long until) {
    count = live = 0, refused_from = from, refused_until = until;
    watched = true;
}

// Panics print a message to standard error. It goes to memory, and is printed at the end.
static int messages = -1;

static bool heard_messages(void) {
    fflush(stderr);
    return lseek(messages, 0, SEEK_END) > 0;
}

static void print_messages(void) {
    char bytes[4096];
    fflush(stderr);
    lseek(messages, 0, SEEK_SET);
    for (ssize_t n; (n = read(messages, bytes, sizeof bytes)) > 0;) {
        fwrite(bytes, 1, (size_t)n, stdout);
    }
}

static void keep_messages(void) {
    messages = memfd_create("messages", 0);
    CHECK(messages >= 0 && dup2(messages, STDERR_FILENO) >= 0 && atexit(print_messages) == 0);
}

#endif
