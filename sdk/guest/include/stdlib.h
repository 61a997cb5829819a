#ifndef GODWIT_STDLIB_H
#define GODWIT_STDLIB_H

#include_next <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

int system(const char*); /* no command can be run: ENOSYS, and 0 for NULL */
int mkstemp(char*);
int mkostemp(char*, int);
char* mkdtemp(char*);
char* mktemp(char*);
char* realpath(const char*, char*);

#ifdef __cplusplus
}
#endif

#endif
