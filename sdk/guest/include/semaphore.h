#ifndef GODWIT_SEMAPHORE_H
#define GODWIT_SEMAPHORE_H
/* Semaphores of guest threads. sem_open fails with ENOSYS: there is no other process. */

#include_next <semaphore.h>

#ifndef SEM_VALUE_MAX
#define SEM_VALUE_MAX 0x7fffffff
#endif

#endif
