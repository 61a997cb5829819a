#ifndef GODWIT_FCNTL_H
#define GODWIT_FCNTL_H
/* Locks: a guest's files are its own, so every lock is free. Descriptors cannot be duplicated: F_DUPFD fails with ENOSYS. */

#include_next <fcntl.h>

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef F_DUPFD
#define F_DUPFD 0
#define F_DUPFD_CLOEXEC 1030
#endif
#define F_GETLK 5
#define F_SETLK 6
#define F_SETLKW 7
#define F_RDLCK 0
#define F_WRLCK 1
#define F_UNLCK 2

#ifdef __cplusplus
}
#endif

#endif
