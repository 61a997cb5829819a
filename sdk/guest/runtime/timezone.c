// Local time. wasi-libc knows UTC only: its localtime, mktime and strftime ask two functions of one file of it (__tz.c), which stand here
// instead, with everything else of that file.
//
// TZ is a rule of POSIX (CET-1CEST,M3.5.0,M10.5.0/3), or the name of a zoneinfo file that the program was given as input: an absolute path,
// or a path below /usr/share/zoneinfo. Without TZ, /etc/localtime counts, if it is there. Everything else is UTC.

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WEAK __attribute__((weak))

WEAK const char __utc[] = "UTC";

WEAK char* tzname[2] = {(char*)__utc, (char*)__utc};
WEAK long timezone;
WEAK int daylight;

enum { kNameBytes = 16, kMaxFileBytes = 65536, kDay = 86400 };

// --- rules of POSIX ---

struct rule {
  char kind;  // J: day 1 to 365, leap days not counted; 0: day 0 to 365; M: month, week and day of the week
  int month, week, day;
  int time;  // seconds after midnight, local
};

struct posix_zone {
  int valid, has_dst;
  char names[2][kNameBytes];
  int offsets[2];  // seconds east of UTC; standard time, summer time
  struct rule rules[2];
};

// Each of these moves *text behind what it has read, and returns 0 if that is something else.
static int read_name(const char** text, char* name) {
  const char* at = *text;
  const int quoted = *at == '<';
  const char* const start = quoted ? ++at : at;
  while (quoted ? *at && *at != '>' : (*at | 32) >= 'a' && (*at | 32) <= 'z') ++at;
  const size_t size = (size_t)(at - start);
  if (size < 3 || size >= kNameBytes || (quoted && *at != '>')) return 0;
  memcpy(name, start, size);
  name[size] = 0;
  *text = quoted ? at + 1 : at;
  return 1;
}

static int read_number(const char** text, int most, int* number) {
  int value = 0, digits = 0;
  for (; **text >= '0' && **text <= '9' && digits < 6; ++*text, ++digits) value = value * 10 + (**text - '0');
  *number = value;
  return digits > 0 && value <= most;
}

// [+-]hh[:mm[:ss]]
static int read_time(const char** text, int* seconds) {
  int sign = 1, part[3] = {0, 0, 0};
  if (**text == '+' || **text == '-') sign = *(*text)++ == '-' ? -1 : 1;
  for (int i = 0; i < 3; ++i) {
    if (i > 0) {
      if (**text != ':') break;
      ++*text;
    }
    if (!read_number(text, i == 0 ? 167 : 59, &part[i])) return 0;
  }
  *seconds = sign * (part[0] * 3600 + part[1] * 60 + part[2]);
  return 1;
}

static int read_rule(const char** text, struct rule* rule) {
  if (*(*text)++ != ',') return 0;
  memset(rule, 0, sizeof *rule);
  rule->kind = '0';
  if (**text == 'J' || **text == 'M') rule->kind = *(*text)++;
  if (rule->kind == 'M') {
    if (!read_number(text, 12, &rule->month) || rule->month < 1 || *(*text)++ != '.') return 0;
    if (!read_number(text, 5, &rule->week) || rule->week < 1 || *(*text)++ != '.') return 0;
    if (!read_number(text, 6, &rule->day)) return 0;
  } else if (!read_number(text, 365, &rule->day) || (rule->kind == 'J' && rule->day < 1)) {
    return 0;
  }
  rule->time = 7200;
  if (**text != '/') return 1;
  ++*text;
  return read_time(text, &rule->time);
}

static struct posix_zone read_posix(const char* text) {
  struct posix_zone zone;
  memset(&zone, 0, sizeof zone);
  int west;
  if (!read_name(&text, zone.names[0]) || !read_time(&text, &west)) return zone;
  zone.offsets[0] = -west;
  if (*text == 0) {
    zone.valid = 1;
    return zone;
  }
  if (!read_name(&text, zone.names[1])) return zone;
  zone.has_dst = 1;
  zone.offsets[1] = zone.offsets[0] + 3600;
  if (*text && *text != ',') {
    if (!read_time(&text, &west)) return zone;
    zone.offsets[1] = -west;
  }
  const char* rules = *text ? text : ",M3.2.0,M11.1.0";
  zone.valid = read_rule(&rules, &zone.rules[0]) && read_rule(&rules, &zone.rules[1]) && *rules == 0;
  return zone;
}

static int is_leap(long long year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

// Days from 1970-01-01 to the first of January.
static long long days_before_year(long long year) {
  const long long y = year - 1;
  const long long leaps = y / 4 - y / 100 + y / 400 - (y < 0 && y % 4 ? 1 : 0) + (y < 0 && y % 100 ? 1 : 0) - (y < 0 && y % 400 ? 1 : 0);
  return 365 * (year - 1970) + leaps - 477;
}

static long long year_of(long long seconds) {
  long long days = seconds / kDay - (seconds % kDay < 0);
  long long year = 1970 + days / 366 - (days < 0);
  while (days_before_year(year + 1) <= days) ++year;
  while (days_before_year(year) > days) --year;
  return year;
}

// Seconds since 1970 at which the rule strikes in a year, on a clock that shows local time.
static long long strikes(const struct rule* rule, long long year) {
  static const short kBeforeMonth[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
  const long long first = days_before_year(year);
  long long day;
  if (rule->kind == 'J') {
    day = first + rule->day - 1 + (is_leap(year) && rule->day > 59);
  } else if (rule->kind == '0') {
    day = first + rule->day;
  } else {
    const long long month = first + kBeforeMonth[rule->month - 1] + (is_leap(year) && rule->month > 2);
    const int length = kBeforeMonth[rule->month] - kBeforeMonth[rule->month - 1] + (is_leap(year) && rule->month == 2);
    const int weekday = (int)(((month + 4) % 7 + 7) % 7);  // 1970-01-01 was a Thursday
    int in_month = (rule->day - weekday + 7) % 7 + 7 * (rule->week - 1);
    while (in_month >= length) in_month -= 7;
    day = month + in_month;
  }
  return day * kDay + rule->time;
}

struct local {
  int offset, is_dst, opposite;  // opposite: the offset of the other kind of time, if the zone has both
  const char* name;
};

static struct local look_up_rule(const struct posix_zone* zone, long long seconds) {
  int dst = 0;
  if (zone->has_dst) {
    const long long year = year_of(seconds + zone->offsets[0]);
    const long long begin = strikes(&zone->rules[0], year) - zone->offsets[0], end = strikes(&zone->rules[1], year) - zone->offsets[1];
    dst = begin < end ? seconds >= begin && seconds < end : seconds >= begin || seconds < end;
  }
  struct local local = {zone->offsets[dst], dst, zone->offsets[zone->has_dst ? !dst : 0], zone->names[dst]};
  return local;
}

// --- zoneinfo files (RFC 8536) ---

struct zone_file {
  uint8_t* bytes;  // null: there is none
  const uint8_t *times, *indices, *types, *names;
  uint32_t time_count, type_count, name_bytes;
  struct posix_zone rest;  // after the last time of the file
};

static uint32_t big32(const uint8_t* at) { return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3]; }
static int64_t big64(const uint8_t* at) { return (int64_t)((uint64_t)big32(at) << 32 | big32(at + 4)); }

// Six numbers of a header: of UT flags, standard flags, leap seconds, times, types, bytes of names.
static uint64_t block_bytes(const uint8_t* header, unsigned time_bytes) {
  const uint8_t* const n = header + 20;
  return (uint64_t)big32(n) + big32(n + 4) + (uint64_t)big32(n + 8) * (time_bytes + 4) + (uint64_t)big32(n + 12) * (time_bytes + 1) +
         (uint64_t)big32(n + 16) * 6 + big32(n + 20);
}

static int is_header(const uint8_t* bytes, size_t size) { return size >= 44 && memcmp(bytes, "TZif", 4) == 0; }

// Fills in what follows from `bytes`, a whole file with a 0 behind it. 0: it is damaged, or older than version 2.
static int parse_file(struct zone_file* file, size_t size) {
  const uint8_t* at = file->bytes;
  if (!is_header(at, size) || at[4] < '2') return 0;
  const uint64_t skipped = 44 + block_bytes(at, 4);
  if (skipped > size || !is_header(at + skipped, size - skipped)) return 0;
  at += skipped;
  size -= skipped;
  const uint64_t block = block_bytes(at, 8);
  if (block > size - 44) return 0;
  file->time_count = big32(at + 32);
  file->type_count = big32(at + 36);
  file->name_bytes = big32(at + 40);
  if (file->type_count == 0 || file->name_bytes == 0) return 0;
  file->times = at + 44;
  file->indices = file->times + 8 * file->time_count;
  file->types = file->indices + file->time_count;
  file->names = file->types + 6 * file->type_count;
  if (file->names[file->name_bytes - 1] != 0) return 0;
  for (uint32_t i = 0; i < file->time_count; ++i)
    if (file->indices[i] >= file->type_count) return 0;
  for (uint32_t i = 0; i < file->type_count; ++i)
    if (file->types[6 * i + 5] >= file->name_bytes) return 0;
  char* rule = (char*)at + 44 + block;
  if (*rule == '\n') {
    char* const end = strchr(++rule, '\n');
    if (end) {
      *end = 0;
      file->rest = read_posix(rule);
    }
  }
  return 1;
}

static int type_offset(const struct zone_file* file, uint32_t type) { return (int)big32(file->types + 6 * type); }
static int type_is_dst(const struct zone_file* file, uint32_t type) { return file->types[6 * type + 4] != 0; }

static struct local look_up_file(const struct zone_file* file, long long seconds) {
  uint32_t low = 0, high = file->time_count;  // the first time that is later
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (big64(file->times + 8 * middle) <= seconds) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == file->time_count && file->rest.valid) return look_up_rule(&file->rest, seconds);
  const uint32_t type = low == 0 ? 0 : file->indices[low - 1];
  struct local local = {type_offset(file, type), type_is_dst(file, type), type_offset(file, type),
                        (const char*)file->names + file->types[6 * type + 5]};
  // The nearest time of the other kind.
  for (uint32_t i = 0; i < file->time_count; ++i) {
    const uint32_t other = low > i ? file->indices[low - 1 - i] : low + i < file->time_count ? file->indices[low + i] : type;
    if (type_is_dst(file, other) == local.is_dst) continue;
    local.opposite = type_offset(file, other);
    break;
  }
  return local;
}

// --- the zone of the program ---

static struct zone_file zone_file;
static struct posix_zone posix_zone;
static char* known_tz;  // for which the zone was set; null: never
static int zone_known;

static int load_file(const char* path) {
  const int fd = open(path, O_RDONLY);
  if (fd < 0) return 0;
  struct zone_file file;
  memset(&file, 0, sizeof file);
  file.bytes = malloc(kMaxFileBytes + 1);
  size_t size = 0;
  for (ssize_t n; file.bytes && size < kMaxFileBytes && (n = read(fd, file.bytes + size, kMaxFileBytes - size)) > 0;) size += (size_t)n;
  close(fd);
  if (file.bytes) file.bytes[size] = 0;
  if (!file.bytes || !parse_file(&file, size)) {
    free(file.bytes);
    return 0;
  }
  zone_file = file;
  return 1;
}

static int load_named_file(const char* name) {
  static const char kFolder[] = "/usr/share/zoneinfo/";
  char path[256];
  if (*name == '/') return load_file(name);
  if (strlen(name) + sizeof kFolder > sizeof path || strstr(name, "..")) return 0;
  strcpy(path, kFolder);
  strcat(path, name);
  return load_file(path);
}

static struct local look_up(long long seconds) {
  if (zone_file.bytes) return look_up_file(&zone_file, seconds);
  if (posix_zone.valid) return look_up_rule(&posix_zone, seconds);
  struct local utc = {0, 0, 0, __utc};
  return utc;
}

// The first time of each kind that is still in use.
static void set_globals(void) {
  const struct posix_zone* const zone = zone_file.bytes ? &zone_file.rest : &posix_zone;
  tzname[0] = (char*)(zone->valid ? zone->names[0] : __utc);
  tzname[1] = (char*)(zone->valid && zone->has_dst ? zone->names[1] : tzname[0]);
  timezone = zone->valid ? -zone->offsets[0] : 0;
  daylight = zone->valid && zone->has_dst;
}

WEAK void tzset(void) {
  const char* const tz = getenv("TZ");
  if (zone_known && (tz ? known_tz && strcmp(tz, known_tz) == 0 : !known_tz)) return;
  free(known_tz);
  known_tz = tz ? strdup(tz) : NULL;
  zone_known = 1;
  free(zone_file.bytes);
  memset(&zone_file, 0, sizeof zone_file);
  memset(&posix_zone, 0, sizeof posix_zone);
  if (!tz) {
    load_file("/etc/localtime");
  } else if (*tz == ':') {
    load_named_file(tz + 1);
  } else if (*tz) {
    posix_zone = read_posix(tz);
    if (!posix_zone.valid) load_named_file(tz);
  }
  set_globals();
}

// libc calls this with `seconds` in UTC or, for mktime, as a local clock shows them.
WEAK void __secs_to_zone(long long seconds, int is_local, int* is_dst, int* offset, long* opposite, const char** name) {
  tzset();
  struct local local = look_up(seconds);
  if (is_local) {
    const struct local before = look_up(seconds - kDay), after = look_up(seconds + kDay);
    // Where the clock is put forward or back between the two: an hour that comes twice is the first one, one that never comes likewise.
    const int first = before.offset == after.offset || look_up(seconds - before.offset).offset == before.offset;
    const int second = look_up(seconds - after.offset).offset == after.offset;
    local = look_up(first || second ? seconds - (first ? before : after).offset : seconds - before.offset);
    if (!first && !second) local = before;
  }
  *is_dst = local.is_dst;
  *offset = local.offset;
  *name = local.name;
  if (opposite) *opposite = local.opposite;
}

// For %Z. A program may have left the name in its tm uninitialised.
WEAK const char* __tm_to_tzname(const struct tm* tm) {
  const char* const name = tm->__tm_zone;
  const uint8_t* const in_file = (const uint8_t*)name;
  if (name == __utc) return name;
  tzset();
  for (int i = 0; i < 2; ++i)
    if (name == posix_zone.names[i] || name == zone_file.rest.names[i]) return name;
  return zone_file.bytes && in_file >= zone_file.names && in_file < zone_file.names + zone_file.name_bytes ? name : "";
}
