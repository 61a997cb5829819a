#ifndef GODWIT_UNISTD_H
#define GODWIT_UNISTD_H
/* Functions of POSIX that wasi-libc leaves out. A guest is one process of one user; sdk/guest/README.md says what each function does. */

#include_next <unistd.h>

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Owners: one user, number 0, whom everything belongs to. */
int chown(const char*, uid_t, gid_t);
int fchown(int, uid_t, gid_t);
int lchown(const char*, uid_t, gid_t);
uid_t getuid(void);
uid_t geteuid(void);
gid_t getgid(void);
gid_t getegid(void);
int getgroups(int, gid_t[]);
int setuid(uid_t);
int setgid(gid_t);
int seteuid(uid_t);
int setegid(gid_t);
char* getlogin(void);

/* The process of a guest has no parent and no group but its own. */
pid_t getppid(void);
pid_t getpgrp(void);
pid_t getpgid(pid_t);
pid_t setsid(void);
int nice(int);

/* These fail with ENOSYS. */
pid_t fork(void);
pid_t vfork(void);
int execv(const char*, char* const[]);
int execve(const char*, char* const[], char* const[]);
int execvp(const char*, char* const[]);
int execl(const char*, const char*, ...);
int execlp(const char*, const char*, ...);
int pipe(int[2]);
int dup(int);
int dup2(int, int);
unsigned alarm(unsigned); /* no timer is set; returns 0 */

int truncate(const char*, off_t);
void sync(void);
char* ttyname(int);
int lockf(int, int, off_t);
#define F_ULOCK 0
#define F_LOCK 1
#define F_TLOCK 2
#define F_TEST 3

#ifdef __cplusplus
}
#endif

#endif
