#ifndef GODWIT_STDIO_H
#define GODWIT_STDIO_H

#include_next <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

FILE* popen(const char*, const char*); /* no command can be run: ENOSYS */
int pclose(FILE*);

/* wasi-libc declares these two and lacks them. */
#define L_tmpnam 32
#define TMP_MAX 10000
#define P_tmpdir "/tmp"
FILE* __godwit_tmpfile(void);
char* __godwit_tmpnam(char*);
#define tmpfile __godwit_tmpfile
#define tmpnam __godwit_tmpnam

#ifdef __cplusplus
}
#endif

#endif
