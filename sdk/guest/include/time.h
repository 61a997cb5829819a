#ifndef GODWIT_TIME_H
#define GODWIT_TIME_H
// wasi-libc's header, and time zones (runtime/timezone.c).

#include_next <time.h>

#ifdef __cplusplus
extern "C" {
#endif

void tzset(void);
extern char* tzname[2];
extern long timezone;
extern int daylight;

#ifdef __cplusplus
}
#endif

#endif
