// Signals within one program: raise() runs the handler, or ends the program as the signal does natively, with exit code 128 + n.
// All functions are weak: a program may bring its own.

#include <signal.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WEAK __attribute__((weak))

// What SIG_IGN and SIG_ERR are in wasi-libc's header: addresses that no handler has. Never called.
WEAK void __SIG_IGN(int number) { (void)number; }
WEAK void __SIG_ERR(int number) {
  (void)number;
  abort();
}

enum { kFirstSignal = 1, kLastSignal = 64 };

static struct sigaction actions[kLastSignal + 1];
static unsigned long long blocked, pending;

static int is_signal(int number) { return number >= kFirstSignal && number <= kLastSignal; }
static unsigned long long bit_of(int number) { return 1ull << (number - 1); }

static int ignored_by_default(int number) {
  return number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH || number == SIGSTOP || number == SIGTSTP ||
         number == SIGTTIN || number == SIGTTOU;  // what stops a process has nobody to continue it
}

static void deliver_pending(void);

static void deliver(int number) {
  const struct sigaction action = actions[number];
  if (action.sa_handler == SIG_IGN) return;
  if (action.sa_handler == SIG_DFL) {
    if (ignored_by_default(number)) return;
    _Exit(128 + number);
  }
  if (action.sa_flags & (int)SA_RESETHAND) actions[number].sa_handler = SIG_DFL;
  const unsigned long long before = blocked;
  blocked |= action.sa_mask.bits;
  if (!(action.sa_flags & SA_NODEFER)) blocked |= bit_of(number);
  if (action.sa_flags & SA_SIGINFO) {
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = number;
    info.si_pid = getpid();
    action.sa_sigaction(number, &info, NULL);
  } else {
    action.sa_handler(number);
  }
  blocked = before;
  deliver_pending();
}

static void deliver_pending(void) {
  for (int number = kFirstSignal; number <= kLastSignal; ++number) {
    if (!(pending & ~blocked & bit_of(number))) continue;
    pending &= ~bit_of(number);
    deliver(number);
  }
}

WEAK int raise(int number) {
  if (!is_signal(number)) {
    errno = EINVAL;
    return -1;
  }
  if (blocked & bit_of(number)) {
    pending |= bit_of(number);
  } else {
    deliver(number);
  }
  return 0;
}

// libc's own traps, which no handler sees and no shell takes for an abort.
WEAK _Noreturn void abort(void) {
  blocked &= ~bit_of(SIGABRT);
  raise(SIGABRT);
  _Exit(128 + SIGABRT);  // the handler has returned, or ignores the signal
}

WEAK int kill(pid_t pid, int number) {
  if (pid != getpid() && pid != 0 && pid != -1) {
    errno = ESRCH;
    return -1;
  }
  return number == 0 ? 0 : raise(number);
}

WEAK int killpg(pid_t group, int number) { return kill(group == 0 ? getpid() : group, number); }

WEAK int sigaction(int number, const struct sigaction* action, struct sigaction* before) {
  if (!is_signal(number) || (action != NULL && (number == SIGKILL || number == SIGSTOP))) {
    errno = EINVAL;
    return -1;
  }
  if (before != NULL) *before = actions[number];
  if (action != NULL) actions[number] = *action;
  return 0;
}

WEAK void (*signal(int number, void (*handler)(int)))(int) {
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

WEAK int sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  if (before != NULL) before->bits = blocked;
  if (set == NULL) return 0;
  if (how == SIG_BLOCK) {
    blocked |= set->bits;
  } else if (how == SIG_UNBLOCK) {
    blocked &= ~set->bits;
  } else if (how == SIG_SETMASK) {
    blocked = set->bits;
  } else {
    errno = EINVAL;
    return -1;
  }
  blocked &= ~(bit_of(SIGKILL) | bit_of(SIGSTOP));
  deliver_pending();
  return 0;
}

WEAK int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) { return sigprocmask(how, set, before) == 0 ? 0 : errno; }

WEAK int sigpending(sigset_t* set) {
  set->bits = pending;
  return 0;
}

WEAK int sigemptyset(sigset_t* set) {
  set->bits = 0;
  return 0;
}

WEAK int sigfillset(sigset_t* set) {
  set->bits = ~0ull;
  return 0;
}

static int checked_signal(int number) {
  if (is_signal(number)) return 1;
  errno = EINVAL;
  return 0;
}

WEAK int sigaddset(sigset_t* set, int number) {
  if (!checked_signal(number)) return -1;
  set->bits |= bit_of(number);
  return 0;
}

WEAK int sigdelset(sigset_t* set, int number) {
  if (!checked_signal(number)) return -1;
  set->bits &= ~bit_of(number);
  return 0;
}

WEAK int sigismember(const sigset_t* set, int number) {
  if (!checked_signal(number)) return -1;
  return (set->bits & bit_of(number)) != 0;
}

WEAK int siginterrupt(int number, int interrupt) {
  (void)interrupt;  // no call is ever interrupted
  return checked_signal(number) ? 0 : -1;
}
