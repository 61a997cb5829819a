#ifndef GODWIT_SYS_STAT_H
#define GODWIT_SYS_STAT_H

#include_next <sys/stat.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A guest's files have no permissions: these look whether the file is there, and change nothing. */
int chmod(const char*, mode_t);
int fchmod(int, mode_t);
int fchmodat(int, const char*, mode_t, int);
mode_t umask(mode_t);
int mkfifo(const char*, mode_t);       /* ENOSYS */
int mknod(const char*, mode_t, dev_t); /* ENOSYS */

#ifdef __cplusplus
}
#endif

#endif
