/* A layer between the program and the system: one call on a file below a folder fails.
   Half of what is to be written is written then, as on a disk that has just become full. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static char below[4096];
static int failing_call = -1, error_number, n_calls;

/* error 0: the process is killed. call -1: nothing fails, calls are counted. */
void fault_arm(const char *folder, int call, int error) {
    strncpy(below, folder, sizeof below - 1);
    failing_call = call;
    error_number = error;
    n_calls = 0;
}
int fault_calls(void) { return n_calls; }

static int fails(const char *path) {
    if (!below[0] || strncmp(path, below, strlen(below))) return 0;
    if (n_calls++ != failing_call) return 0;
    if (!error_number) raise(SIGKILL);
    errno = error_number;
    return 1;
}
static int fails_at(int fd) {
    char link[64], path[4096];
    if (!below[0]) return 0;
    int before = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    errno = before;
    if (length < 0) return 0;
    path[length] = 0;
    return fails(path);
}
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *data, size_t size) {
    if (!fails_at(fd)) return REAL(write)(fd, data, size);
    int error = errno;
    REAL(write)(fd, data, size / 2);
    errno = error;
    return -1;
}
#define PWRITE(name)                                                          \
    ssize_t name(int fd, const void *data, size_t size, off_t at) {           \
        if (!fails_at(fd)) return REAL(name)(fd, data, size, at);             \
        int error = errno;                                                    \
        REAL(name)(fd, data, size / 2, at);                                   \
        errno = error;                                                        \
        return -1;                                                            \
    }
PWRITE(pwrite)
PWRITE(pwrite64)
int fsync(int fd) { return fails_at(fd) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return fails_at(fd) ? -1 : REAL(fdatasync)(fd); }
int ftruncate(int fd, off_t size) { return fails_at(fd) ? -1 : REAL(ftruncate)(fd, size); }
int ftruncate64(int fd, off_t size) { return fails_at(fd) ? -1 : REAL(ftruncate64)(fd, size); }
int rename(const char *from, const char *to) { return fails(to) ? -1 : REAL(rename)(from, to); }
#define OPEN(name)                                                            \
    int name(const char *path, int flags, ...) {                              \
        va_list list;                                                         \
        va_start(list, flags);                                                \
        mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;             \
        va_end(list);                                                         \
        if ((flags & O_CREAT) && fails(path)) return -1;                      \
        return REAL(name)(path, flags, mode);                                 \
    }
OPEN(open)
OPEN(open64)
