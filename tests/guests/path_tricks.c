// Tries to open files of the host by every path trick; exits with how many it got.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int opens(const char* path) {
  int fd = open(path, O_RDONLY);
  if (fd < 0) return 0;
  close(fd);
  return 1;
}

int main(void) {
  int found = opens("/etc/passwd") + opens("../../../../../../../../etc/passwd") + opens("/proc/self/maps") + opens("/../etc/passwd") +
              opens("//etc//passwd") + opens("./../../../../../../../../../etc/hostname");
  if (symlink("/etc/passwd", "link") == 0) found += opens("link");
  if (symlink("../../../../../../../../etc", "folder") == 0) found += opens("folder/passwd");
  if (symlink("folder", "chain") == 0) found += opens("chain/passwd") + opens("chain/../etc/passwd");
  if (rename("link", "renamed") == 0) found += opens("renamed");
  return found;
}
