// A task that does nothing. main prints its number.
#include <stdio.h>

#include <godwit/task.h>

static void nothing(const void* argument, size_t size) { godwit_task_result(argument, size); }

int main(void) { printf("%u", (unsigned)(uintptr_t)&nothing); }
