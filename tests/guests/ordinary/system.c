// What programs expect of a system: works, or fails with the errno that the guest runtime documents. Prints what is not as it should be.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <locale.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int wrong;
#define EXPECT(condition) ((condition) ? (void)0 : (void)(++wrong, printf("line %d: %s (errno %d)\n", __LINE__, #condition, errno)))
#define FAILS(call, error) (errno = 0, EXPECT((call) == -1), EXPECT(errno == (error)))

static void files(void) {
  EXPECT(mkdir("/tmp", 0777) == 0);
  char name[] = "/tmp/fileXXXXXX", folder[] = "/tmp/folderXXXXXX", bad[] = "/tmp/file";
  const int fd = mkstemp(name);
  EXPECT(fd >= 0 && write(fd, "hello", 5) == 5 && close(fd) == 0);
  EXPECT(mkdtemp(folder) != NULL);
  FAILS(mkstemp(bad), EINVAL);
  EXPECT(chmod(name, 0600) == 0 && chown(name, 0, 0) == 0 && truncate(name, 2) == 0);
  struct stat status;
  EXPECT(stat(name, &status) == 0 && status.st_size == 2);
  EXPECT(status.st_mtime > 1600000000 && status.st_mtime <= time(NULL));
  const int inside = open(folder, O_RDONLY | O_DIRECTORY);
  FAILS(openat(inside, "..", O_RDONLY), EPERM);
  FAILS(symlinkat("/", inside, "root"), EPERM);
  EXPECT(symlink("/tmp", "/tmp/absolute") == 0 && access("/tmp/absolute/absolute", F_OK) == 0 && close(inside) == 0);
  FAILS(chmod("/none", 0600), ENOENT);
  EXPECT(umask(077) == 022 && umask(022) == 077);
  const int locked = open(name, O_RDWR);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  EXPECT(fcntl(locked, F_SETLK, &lock) == 0 && fcntl(locked, F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK);
  EXPECT((fcntl(locked, F_GETFL) & O_RDWR) == O_RDWR && close(locked) == 0);
  FAILS(fcntl(1, F_DUPFD, 5), ENOSYS);
  FILE* scratch = tmpfile();
  EXPECT(scratch != NULL && fputs("x", scratch) >= 0 && fseek(scratch, 0, SEEK_SET) == 0 && fgetc(scratch) == 'x');
  char buffer[L_tmpnam];
  EXPECT(tmpnam(buffer) == buffer && access(buffer, F_OK) != 0);
}

static void paths(void) {
  char resolved[PATH_MAX];
  EXPECT(mkdir("/a", 0777) == 0 && mkdir("/a/b", 0777) == 0 && symlink("a/b", "/link") == 0 && symlink("../a", "/a/up") == 0);
  EXPECT(realpath("/a/./b/../b//", resolved) == resolved && strcmp(resolved, "/a/b") == 0);
  EXPECT(realpath("/link/..", resolved) != NULL && strcmp(resolved, "/a") == 0);
  EXPECT(realpath("/a/up/b", resolved) != NULL && strcmp(resolved, "/a/b") == 0);
  EXPECT(realpath("/", resolved) != NULL && strcmp(resolved, "/") == 0);
  EXPECT(realpath("/none", resolved) == NULL && errno == ENOENT);
  char* own = realpath("/a", NULL);
  EXPECT(own != NULL && strcmp(own, "/a") == 0);
  free(own);
}

static void processes(void) {
  FAILS(fork(), ENOSYS);
  FAILS(system("true"), ENOSYS);
  EXPECT(system(NULL) == 0);
  EXPECT(popen("true", "r") == NULL && errno == ENOSYS);
  int ends[2], status;
  FAILS(pipe(ends), ENOSYS);
  FAILS(dup(1), ENOSYS);
  EXPECT(dup2(1, 1) == 1);
  FAILS(wait(&status), ECHILD);
  FAILS(execl("/bin/true", "true", (char*)NULL), ENOSYS);
  EXPECT(getpid() > 0 && getppid() == 1 && alarm(5) == 0);
  EXPECT(getuid() == 0 && getpwuid(0) != NULL && strcmp(getpwuid(0)->pw_dir, "/") == 0 && getpwnam("nobody") == NULL);
  EXPECT(getgrgid(0) != NULL);
  EXPECT(dlopen("libm.so", RTLD_NOW) == NULL && strlen(dlerror()) > 0);
  struct addrinfo* found;
  EXPECT(getaddrinfo("localhost", "80", NULL, &found) == EAI_FAIL);
}

static void resources(void) {
  struct rlimit limit;
  EXPECT(getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur == 8u << 20);
  EXPECT(getrlimit(RLIMIT_NOFILE, &limit) == 0 && setrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = 1;
  FAILS(setrlimit(RLIMIT_NOFILE, &limit), EPERM);
  struct rusage usage;
  EXPECT(getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss == 0);
  struct timespec used;
  EXPECT(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0);
}

static void locales(void) {
  EXPECT(setlocale(LC_ALL, "xx_YY.UTF-8") == NULL);
  EXPECT(setlocale(LC_ALL, "C.UTF-8") != NULL && setlocale(LC_ALL, setlocale(LC_ALL, NULL)) != NULL);
  EXPECT(setlocale(LC_ALL, "") != NULL && strcmp(setlocale(LC_ALL, "C"), "C") == 0);
  EXPECT(newlocale(LC_ALL_MASK, "xx_YY", (locale_t)0) == (locale_t)0 && errno == ENOENT);
}

static void terminals(void) {
  for (int fd = 0; fd < 3; ++fd) {
    errno = 0;
    EXPECT(isatty(fd) == 0 && errno == ENOTTY);
  }
  EXPECT(isatty(99) == 0 && errno == EBADF);
}

int main(void) {
  files();
  paths();
  processes();
  resources();
  terminals();
  locales();
  printf("%d wrong\n", wrong);
  return wrong != 0;
}
