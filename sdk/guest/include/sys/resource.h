#ifndef GODWIT_SYS_RESOURCE_H
#define GODWIT_SYS_RESOURCE_H

#include <sys/time.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef unsigned long long rlim_t;
struct rlimit {
  rlim_t rlim_cur;
  rlim_t rlim_max;
};

struct rusage {
  struct timeval ru_utime; /* the time since the start; the rest is 0 */
  struct timeval ru_stime;
  long ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap, ru_inblock, ru_oublock, ru_msgsnd, ru_msgrcv, ru_nsignals;
  long ru_nvcsw, ru_nivcsw;
};

#define RLIM_INFINITY (~0ULL)
#define RLIM_SAVED_CUR RLIM_INFINITY
#define RLIM_SAVED_MAX RLIM_INFINITY
#define RLIMIT_CPU 0
#define RLIMIT_FSIZE 1
#define RLIMIT_DATA 2
#define RLIMIT_STACK 3
#define RLIMIT_CORE 4
#define RLIMIT_RSS 5
#define RLIMIT_NPROC 6
#define RLIMIT_NOFILE 7
#define RLIMIT_MEMLOCK 8
#define RLIMIT_AS 9
#define RLIM_NLIMITS 16
#define RUSAGE_SELF 0
#define RUSAGE_CHILDREN (-1)
#define PRIO_PROCESS 0
#define PRIO_PGRP 1
#define PRIO_USER 2

int getrlimit(int, struct rlimit*);       /* nothing but the stack has a limit that a program can see */
int setrlimit(int, const struct rlimit*); /* EPERM, unless it changes nothing */
int __godwit_getrusage(int, struct rusage*);
#define getrusage __godwit_getrusage
int getpriority(int, id_t);
int setpriority(int, id_t, int);

#ifdef __cplusplus
}
#endif

#endif
