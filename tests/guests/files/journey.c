// Works for a while with files open in all kinds of ways, so that it can be moved in between: a scratch file, one that has no name any
// more, one that is appended to, and a directory that is read in small steps while it changes. Prints a line per round.
#define _XOPEN_SOURCE 700

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned long long state = 88172645463325252ull;

static unsigned next(void) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (unsigned)(state >> 32);
}

static unsigned sum_of(int fd) {
  unsigned char buffer[1000];
  unsigned sum = 0;
  off_t offset = 0;
  for (long count; (count = pread(fd, buffer, sizeof buffer, offset)) > 0; offset += count) {
    for (long i = 0; i < count; i++) sum = sum * 31 + buffer[i];
  }
  return sum;
}

int main(int argc, char** argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 40;
  int scratch = open("scratch", O_RDWR | O_CREAT | O_TRUNC, 0600), nameless = open("nameless", O_RDWR | O_CREAT, 0600);
  unlink("nameless");
  FILE* log = fopen("log", "a");
  if (mkdir("names", 0700) != 0) return 1;
  DIR* dir = opendir("names");
  unsigned char block[3000];
  unsigned names_seen = 0;
  for (int round = 0; round < rounds; round++) {
    for (unsigned i = 0; i < sizeof block; i++) block[i] = (unsigned char)next();
    if (lseek(scratch, (off_t)(next() % 200000), SEEK_SET) < 0 || write(scratch, block, sizeof block) != sizeof block) return 1;
    if (write(nameless, block, 700) != 700) return 1;
    fprintf(log, "round %d\n", round);
    if (round % 8 == 0) fflush(log);
    char path[64];
    snprintf(path, sizeof path, "names/%u", next() % 30);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (write(fd, block, 10) != 10) return 1;
    close(fd);
    if (round % 5 == 4) unlink(path);
    for (int i = 0; i < 3; i++) {
      struct dirent* entry = readdir(dir);
      if (entry == NULL) {
        rewinddir(dir);
      } else {
        names_seen++;
      }
    }
    printf("%d: %x %x %ld\n", round, sum_of(scratch), sum_of(nameless), (long)lseek(nameless, 0, SEEK_CUR));
  }
  fclose(log);
  int fd = open("log", O_RDONLY);
  printf("log %x, saw some names: %d\n", sum_of(fd), names_seen > 0);
  return 0;
}
