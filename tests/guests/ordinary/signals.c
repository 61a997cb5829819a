// Signals that a program sends itself.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t seen[65], depth;

static void count(int number) {
  ++seen[number];
  if (number == SIGUSR1 && depth++ < 2) raise(SIGUSR1);  // blocked until this returns
}
static void with_info(int number, siginfo_t* info, void* context) {
  (void)context;
  printf("info %d %d\n", number, info->si_signo);
}

int main(void) {
  struct sigaction action, before;
  memset(&action, 0, sizeof action);
  action.sa_handler = count;
  sigemptyset(&action.sa_mask);
  printf("%d\n", sigaction(SIGUSR1, &action, NULL));
  printf("%d\n", sigaction(SIGUSR1, NULL, &before) == 0 && before.sa_handler == count);
  raise(SIGUSR1);
  printf("nested %d\n", (int)seen[SIGUSR1]);

  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  printf("%d %d\n", sigismember(&set, SIGUSR2), sigismember(&set, SIGINT));
  signal(SIGUSR2, count);
  sigprocmask(SIG_BLOCK, &set, &old);
  raise(SIGUSR2);
  raise(SIGUSR2);
  printf("blocked %d\n", (int)seen[SIGUSR2]);
  sigprocmask(SIG_SETMASK, &old, NULL);
  printf("once %d\n", (int)seen[SIGUSR2]);

  memset(&action, 0, sizeof action);
  action.sa_sigaction = with_info;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGHUP, &action, NULL);
  kill(getpid(), SIGHUP);
  signal(SIGINT, SIG_IGN);
  raise(SIGINT);
  printf("%d\n", signal(SIGINT, SIG_DFL) == SIG_IGN);
  raise(SIGCHLD);
  printf("%d\n", sigaction(SIGKILL, &action, NULL));
  fflush(stdout);
  raise(SIGTERM);  // ends it
  puts("never");
  return 0;
}
