// Directories, renaming, removing, links, and what is said where it cannot be done.
#define _XOPEN_SOURCE 700

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report.h"

static int by_name(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }

static void list(const char* path) {
  DIR* dir = opendir(path);
  if (dir == NULL) {
    report(path, -1);
    return;
  }
  char* names[64];
  int count = 0;
  for (struct dirent* entry; (entry = readdir(dir)) != NULL && count < 64;) names[count++] = strdup(entry->d_name);
  qsort(names, count, sizeof names[0], by_name);
  printf("%s:", path);
  for (int i = 0; i < count; i++) printf(" %s", names[i]), free(names[i]);
  printf("\n");
  closedir(dir);
}

static void make(const char* path, const char* text) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (write(fd, text, strlen(text)) != (long)strlen(text)) printf("%s cannot be written\n", path);
  close(fd);
}

static void show(const char* path) {
  char buffer[64];
  int fd = open(path, O_RDONLY);
  long count = report(path, read(fd, buffer, sizeof buffer));
  if (count > 0) printf("  %.*s\n", (int)count, buffer);
  close(fd);
}

static void directories(void) {
  REPORT(mkdir("d", 0700));
  REPORT(mkdir("d", 0700));
  REPORT(mkdir("d/e/f", 0700));
  REPORT(mkdir("d/e/", 0700));
  make("d/file", "text");
  REPORT(mkdir("d/file", 0700));
  REPORT(mkdir("d/file/x", 0700));
  list("d");
  list("d/file");
  list("d/none");
  REPORT(rmdir("d"));
  REPORT(rmdir("d/file"));
  REPORT(rmdir("d/none"));
  REPORT(unlink("d/e"));
  REPORT(unlink("d/none"));
  REPORT(unlink("d/file/"));
  REPORT(rmdir("d/e"));
  REPORT(unlink("d/file"));
  REPORT(rmdir("d/"));
  list(".");
}

static void renames(void) {
  REPORT(mkdir("a", 0700));
  REPORT(mkdir("a/b", 0700));
  make("one", "1"), make("two", "22"), make("a/b/three", "333");
  REPORT(rename("one", "two"));
  show("two");
  REPORT(rename("one", "x"));
  REPORT(rename("two", "a"));
  REPORT(rename("a", "two"));
  REPORT(rename("a", "a/b/c"));
  REPORT(rename("two", "a/b/"));
  REPORT(rename("two", "new/"));
  REPORT(rename("a/b", "c"));
  REPORT(mkdir("empty", 0700));
  REPORT(mkdir("full", 0700));
  make("full/x", "x");
  REPORT(rename("c", "full"));
  REPORT(rename("c", "empty"));
  REPORT(rename("empty", "last/"));
  list("last"), list("a"), list(".");
  show("last/three");
  char longest[300];
  memset(longest, 'n', sizeof longest);
  longest[299] = 0;
  REPORT(rename("two", longest));
  longest[255] = 0;
  REPORT(rename("two", longest));
  REPORT(rename(longest, "two"));
}

static void unlinked_but_open(void) {
  make("gone", "still here");
  int fd = open("gone", O_RDWR);
  REPORT(unlink("gone"));
  show("gone");
  char buffer[32];
  long count = REPORT(read(fd, buffer, sizeof buffer));
  printf("%.*s\n", (int)count, buffer);
  REPORT(pwrite(fd, "STILL", 5, 0));
  struct stat info;
  REPORT(fstat(fd, &info));
  printf("links %d, size %d\n", (int)info.st_nlink, (int)info.st_size);
  make("gone", "another");
  count = REPORT(pread(fd, buffer, sizeof buffer, 0));
  printf("%.*s\n", (int)count, buffer);
  close(fd);
  show("gone");
}

static void links(void) {
  char target[64];
  REPORT(mkdir("l", 0700));
  make("l/file", "through a link");
  REPORT(symlink("file", "l/soft"));
  REPORT(symlink("file", "l/soft"));
  REPORT(symlink("../l", "l/self"));
  REPORT(symlink("loop", "l/loop"));
  REPORT(symlink("missing", "l/dangling"));
  show("l/soft"), show("l/self/self/self/soft"), show("l/loop"), show("l/dangling");
  long count = REPORT(readlink("l/soft", target, sizeof target));
  printf("%.*s\n", (int)count, target);
  REPORT(readlink("l/soft", target, 2));
  REPORT(readlink("l/file", target, sizeof target));
  REPORT_OPEN(open("l/soft", O_RDONLY | O_NOFOLLOW));
  REPORT_OPEN(open("l/dangling", O_WRONLY | O_CREAT | O_EXCL, 0600));
  close(REPORT_OPEN(open("l/dangling", O_WRONLY | O_CREAT, 0600)));
  struct stat info;
  REPORT(lstat("l/soft", &info));
  printf("link %d size %d\n", S_ISLNK(info.st_mode), (int)info.st_size);
  REPORT(stat("l/soft", &info));
  printf("regular %d size %d links %d\n", S_ISREG(info.st_mode), (int)info.st_size, (int)info.st_nlink);
  REPORT(link("l/file", "l/hard"));
  REPORT(link("l/file", "l/hard"));
  REPORT(link("l/none", "l/harder"));
  REPORT(link("l", "l/directory"));
  REPORT(stat("l/hard", &info));
  printf("links %d\n", (int)info.st_nlink);
  REPORT(unlink("l/file"));
  show("l/hard"), show("l/soft");
  REPORT(rename("l/hard", "l/file"));
  REPORT(unlink("l/self"));
  list("l");
}

// Names that come and go while a directory is read: those that stay are seen once.
static void while_reading(void) {
  REPORT(mkdir("many", 0700));
  char path[64];
  for (int i = 0; i < 500; i++) snprintf(path, sizeof path, "many/%03d", i), make(path, "");
  DIR* dir = opendir("many");
  int seen[500] = {0}, turns = 0;
  for (struct dirent* entry; (entry = readdir(dir)) != NULL; turns++) {
    int number = atoi(entry->d_name);
    if (entry->d_name[0] == '.' || number >= 500) continue;
    seen[number]++;
    int victim = (number * 7 + 3) % 500;
    if (victim % 5 == 0) snprintf(path, sizeof path, "many/%03d", victim), unlink(path);
    snprintf(path, sizeof path, "many/%d", 1000 + turns);
    if (turns < 300) make(path, "");
  }
  int once = 0, more = 0;
  for (int i = 0; i < 500; i++) once += i % 5 != 0 && seen[i] == 1, more += seen[i] > 1;
  printf("once %d, more than once %d\n", once, more);
  rewinddir(dir);
  REPORT(readdir(dir) != NULL);
  closedir(dir);
}

static void relative_to_a_directory(void) {
  REPORT(mkdir("base", 0700));
  int base = REPORT_OPEN(open("base", O_RDONLY | O_DIRECTORY));
  int fd = REPORT_OPEN(openat(base, "inner", O_WRONLY | O_CREAT, 0600));
  close(fd);
  REPORT(rename("base", "moved"));
  REPORT(faccessat(base, "inner", F_OK, 0));
  REPORT(rename("moved/inner", "outer"));  // openat(base, "../outer") would leave the directory: EPERM with WASI
  list("moved");
  REPORT(rmdir("moved"));
  REPORT_OPEN(openat(base, "late", O_WRONLY | O_CREAT, 0600));
  REPORT(mkdirat(base, "late", 0700));
  close(base);
  REPORT(unlink("outer"));
}

int main(void) {
  directories();
  renames();
  unlinked_but_open();
  links();
  while_reading();
  relative_to_a_directory();
  return 0;
}
