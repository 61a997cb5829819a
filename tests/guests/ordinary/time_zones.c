// Local times of zones that TZ names, as rules of POSIX and as files; the same natively.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void show(const char* zone, time_t when) {
  char text[64];
  struct tm tm;
  localtime_r(&when, &tm);
  strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S %z %Z", &tm);
  tm.tm_isdst = -1;
  const time_t back = mktime(&tm);
  printf("%s %lld: %s dst=%d, and back %lld\n", zone, (long long)when, text, tm.tm_isdst, (long long)back);
}

static void show_all(const char* zone) {
  static const time_t kTimes[] = {0,          951782400,  1111885199, 1111885200, 1130633999, 1130634000, 1130637599,
                                  1130637600, 1467331200, 1700000000, 1709210096, 2000000000, 4102444800};
  setenv("TZ", zone, 1);
  tzset();
  for (unsigned i = 0; i < sizeof kTimes / sizeof *kTimes; ++i) show(zone, kTimes[i]);
}

// Local times that do not exist or exist twice are someone's choice; those that say which one they mean are not.
static void make(const char* text, int is_dst) {
  struct tm tm;
  memset(&tm, 0, sizeof tm);
  sscanf(text, "%d-%d-%d %d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour);
  tm.tm_year -= 1900;
  --tm.tm_mon;
  tm.tm_isdst = is_dst;
  printf("%s dst=%d: %lld\n", text, is_dst, (long long)mktime(&tm));
}

int main(int argc, char** argv) {
  static const char* const kZones[] = {"CET-1CEST,M3.5.0,M10.5.0/3",  "EST5EDT,M3.2.0,M11.1.0", "<+0530>-5:30",
                                       "NZST-12NZDT,M9.5.0,M4.1.0/3", "AAA3BBB,J60/1,J300",     "UTC0"};
  for (unsigned i = 0; i < sizeof kZones / sizeof *kZones; ++i) {
    show_all(kZones[i]);
    printf("%s: %s %s %ld %d\n", kZones[i], tzname[0], tzname[1], timezone, daylight);
  }
  setenv("TZ", kZones[0], 1);
  make("2005-10-30 2", 0);
  make("2005-10-30 2", 1);
  make("2005-07-01 12", 1);
  make("2005-01-01 12", 0);
  for (int i = 1; i < argc; ++i) show_all(argv[i]);
}
