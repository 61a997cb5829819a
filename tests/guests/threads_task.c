// A program of tasks like square_task.c, which lets threads do the work. One of them is left when the task ends.
#include <godwit/task.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static int calls;

static void* multiply(void* numbers) {
  int* const n = numbers;
  sched_yield();
  n[0] *= n[1];
  ++calls;
  return NULL;
}

static void* never_end(void* unused) {
  for (;;) sched_yield();
  return unused;
}

static void square(const void* argument, size_t size) {
  int numbers[2] = {-1, 1};
  if (size == sizeof(int)) numbers[0] = numbers[1] = *(const int*)argument;
  pthread_t thread, left;
  pthread_create(&left, NULL, never_end, NULL);
  pthread_create(&thread, NULL, multiply, numbers);
  pthread_join(thread, NULL);
  const int answer[2] = {numbers[0], calls};
  godwit_task_result(answer, sizeof answer);
}

// A thread in a constructor, too.
__attribute__((constructor)) static void say_where(void) {
  int numbers[2] = {2, 3};
  pthread_t thread;
  pthread_create(&thread, NULL, multiply, numbers);
  pthread_join(thread, NULL);
  calls -= numbers[0] == 6;
  char text[16];
  int length = snprintf(text, sizeof text, "%u", (unsigned)(uintptr_t)&square);
  write(1, text, (size_t)length);
}

int main(void) { return 0; }
