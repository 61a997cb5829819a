#ifndef GODWIT_SCHED_H
#define GODWIT_SCHED_H
/* Scheduling parameters that programs name with threads. Guest threads take turns; there is nothing to set. */

#include_next <sched.h>

#ifndef SCHED_OTHER
#define SCHED_OTHER 0
#define SCHED_FIFO 1
#define SCHED_RR 2

struct sched_param {
  int sched_priority;
};
#endif

#ifdef __cplusplus
extern "C" {
#endif

int sched_get_priority_max(int); /* 0, as for SCHED_OTHER elsewhere */
int sched_get_priority_min(int);

#ifdef __cplusplus
}
#endif

#endif
