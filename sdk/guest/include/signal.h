#ifndef GODWIT_SIGNAL_H
#define GODWIT_SIGNAL_H
/* Signals that a program sends itself: signal, sigaction, raise, kill of its own pid, masks. None comes from outside. */

#include_next <signal.h>

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* wasi-libc's has eight bits. */
typedef struct {
  unsigned long long bits; /* signal n is bit n - 1 */
} __godwit_sigset_t;
#define sigset_t __godwit_sigset_t

typedef struct {
  int si_signo, si_errno, si_code;
  pid_t si_pid;
  uid_t si_uid;
  void* si_addr;
  int si_status;
} siginfo_t;

struct sigaction {
  union {
    void (*sa_handler)(int);
    void (*sa_sigaction)(int, siginfo_t*, void*);
  } __handler;
  sigset_t sa_mask;
  int sa_flags;
};
#define sa_handler __handler.sa_handler
#define sa_sigaction __handler.sa_sigaction

#define SA_NOCLDSTOP 1
#define SA_NOCLDWAIT 2
#define SA_SIGINFO 4
#define SA_ONSTACK 0x08000000
#define SA_RESTART 0x10000000
#define SA_NODEFER 0x40000000
#define SA_RESETHAND 0x80000000

#define SIG_BLOCK 0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

#ifndef NSIG
#define NSIG _NSIG
#endif

int sigaction(int, const struct sigaction*, struct sigaction*);
int sigprocmask(int, const sigset_t*, sigset_t*);
int pthread_sigmask(int, const sigset_t*, sigset_t*);
int sigpending(sigset_t*);
int sigemptyset(sigset_t*);
int sigfillset(sigset_t*);
int sigaddset(sigset_t*, int);
int sigdelset(sigset_t*, int);
int sigismember(const sigset_t*, int);
int siginterrupt(int, int);
int kill(pid_t, int);
int killpg(pid_t, int);

#ifdef __cplusplus
}
#endif

#endif
