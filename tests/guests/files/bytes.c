// Opening, reading, writing, seeking, appending, truncating.
#define _XOPEN_SOURCE 700

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "report.h"

static void show(const char* path) {
  char buffer[4096];
  int fd = open(path, O_RDONLY);
  long count = read(fd, buffer, sizeof buffer);
  unsigned sum = 0;
  for (long i = 0; i < count; i++) sum = sum * 31 + (unsigned char)buffer[i];
  printf("%s: %ld bytes, sum %u\n", path, count, sum);
  close(fd);
}

static void open_modes(void) {
  REPORT_OPEN(open("none", O_RDONLY));
  int fd = REPORT_OPEN(open("new", O_WRONLY | O_CREAT, 0600));
  REPORT(write(fd, "hello", 5));
  char buffer[16];
  REPORT(read(fd, buffer, 5));
  close(fd);
  REPORT(close(fd));
  REPORT_OPEN(open("new", O_WRONLY | O_CREAT | O_EXCL, 0600));
  fd = REPORT_OPEN(open("new", O_RDONLY));
  REPORT(write(fd, "x", 1));
  REPORT(ftruncate(fd, 1));
  REPORT(read(fd, buffer, 16));
  REPORT(read(fd, buffer, 16));
  close(fd);
  REPORT_OPEN(open("new/", O_RDONLY));
  REPORT_OPEN(open("new/x", O_RDONLY));
  REPORT_OPEN(open(".", O_WRONLY));
  REPORT_OPEN(open(".", O_RDONLY | O_CREAT, 0600));
  REPORT_OPEN(open("new", O_RDONLY | O_DIRECTORY));
  close(REPORT_OPEN(open("new", O_RDWR | O_TRUNC)));
  show("new");
}

static void offsets(void) {
  int fd = REPORT_OPEN(open("seek", O_RDWR | O_CREAT | O_TRUNC, 0600));
  char buffer[64];
  REPORT(write(fd, "0123456789", 10));
  REPORT(lseek(fd, -3, SEEK_CUR));
  REPORT(read(fd, buffer, 64));
  REPORT(lseek(fd, 100000, SEEK_SET));
  REPORT(write(fd, "far", 3));
  REPORT(lseek(fd, 0, SEEK_END));
  REPORT(lseek(fd, -200000, SEEK_END));
  REPORT(lseek(fd, -1, SEEK_SET));
  REPORT(lseek(fd, 0, 77));
  REPORT(pread(fd, buffer, 5, 99998));
  printf("%d %d %c%c%c\n", buffer[0], buffer[1], buffer[2], buffer[3], buffer[4]);
  REPORT(pwrite(fd, "middle", 6, 70000));
  REPORT(lseek(fd, 0, SEEK_CUR));
  REPORT(pread(fd, buffer, 8, 69999));
  struct iovec parts[] = {{"ab", 2}, {"", 0}, {"cde", 3}};
  REPORT(writev(fd, parts, 3));
  REPORT(ftruncate(fd, 70003));
  REPORT(ftruncate(fd, 70010));
  REPORT(pread(fd, buffer, 64, 69998));
  for (int i = 0; i < 12; i++) printf("%d ", buffer[i]);
  printf("\n");
  REPORT(ftruncate(fd, -1));
  struct stat info;
  REPORT(fstat(fd, &info));
  printf("size %lld, regular %d\n", (long long)info.st_size, S_ISREG(info.st_mode));
  close(fd);
}

static void appending(void) {
  int fd = REPORT_OPEN(open("log", O_WRONLY | O_CREAT | O_APPEND, 0600));
  int other = REPORT_OPEN(open("log", O_RDWR));
  char buffer[16];
  REPORT(write(fd, "one ", 4));
  REPORT(write(other, "ONE", 3));
  REPORT(write(fd, "two ", 4));
  REPORT(lseek(fd, 0, SEEK_SET));
  REPORT(write(fd, "three", 5));
  REPORT(lseek(fd, 0, SEEK_CUR));
  REPORT(lseek(other, 0, SEEK_SET));
  long count = REPORT(read(other, buffer, 16));
  printf("%.*s\n", (int)count, buffer);
  REPORT(fcntl(fd, F_GETFL) & O_APPEND ? 1 : 0);
  REPORT(fcntl(fd, F_SETFL, 0));
  REPORT(pwrite(fd, "Two", 3, 4));
  close(fd), close(other);
  show("log");
}

static void streams(void) {
  FILE* file = fopen("text", "w+");
  for (int i = 0; i < 20000; i++) fprintf(file, "line %d\n", i * 7 % 1001);
  rewind(file);
  char line[64];
  unsigned sum = 0;
  while (fgets(line, sizeof line, file) != NULL) sum = sum * 17 + (unsigned)atoi(line + 5);
  printf("sum %u at %ld\n", sum, ftell(file));
  fseek(file, -9, SEEK_END);
  REPORT(fgets(line, sizeof line, file) != NULL);
  fputs(line, stdout);
  REPORT(fclose(file));
  file = fopen("text", "a+");
  REPORT(fputs("the end\n", file) >= 0);
  REPORT(fclose(file));
  show("text");
  REPORT(truncate("text", 12));
  show("text");
  REPORT(truncate("none", 12));
  REPORT(lseek(1, 0, SEEK_CUR) >= 0 ? 0 : errno == ESPIPE ? 0 : 1);
}

int main(void) {
  open_modes();
  offsets();
  appending();
  streams();
  return 0;
}
