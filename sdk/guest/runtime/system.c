// What programs expect of a system and wasi-libc leaves out. A guest is one process of one user, without a network, on a file tree without
// permissions. A function works within that, or fails with the errno that says why. All are weak: a program may bring its own.

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <locale.h>
#include <netdb.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WEAK __attribute__((weak))

static int fail_with(int error) {
  errno = error;
  return -1;
}

// --- terminals: a guest has none, since it may continue on another machine. stdout is flushed at each line all the same.

WEAK int isatty(int fd) {
  struct stat status;
  if (fstat(fd, &status) == 0) errno = ENOTTY;  // else EBADF
  return 0;
}

WEAK char* ttyname(int fd) {
  isatty(fd);
  return NULL;
}

// --- owners and permissions

static int exists(const char* path) {
  struct stat status;
  return stat(path, &status);
}

static int is_open(int fd) {
  struct stat status;
  return fstat(fd, &status);
}

WEAK int chmod(const char* path, mode_t mode) {
  (void)mode;
  return exists(path);
}
WEAK int fchmod(int fd, mode_t mode) {
  (void)mode;
  return is_open(fd);
}
WEAK int fchmodat(int folder, const char* path, mode_t mode, int flags) {
  (void)mode;
  struct stat status;
  return fstatat(folder, path, &status, flags);
}
WEAK int chown(const char* path, uid_t user, gid_t group) {
  (void)user, (void)group;
  return exists(path);
}
WEAK int lchown(const char* path, uid_t user, gid_t group) {
  (void)user, (void)group;
  struct stat status;
  return lstat(path, &status);
}
WEAK int fchown(int fd, uid_t user, gid_t group) {
  (void)user, (void)group;
  return is_open(fd);
}

static mode_t creation_mask = 022;
WEAK mode_t umask(mode_t mask) {
  const mode_t before = creation_mask;
  creation_mask = mask & 0777;
  return before;
}

WEAK int mkfifo(const char* path, mode_t mode) {
  (void)path, (void)mode;
  return fail_with(ENOSYS);
}
WEAK int mknod(const char* path, mode_t mode, dev_t device) {
  (void)path, (void)mode, (void)device;
  return fail_with(ENOSYS);
}

WEAK uid_t getuid(void) { return 0; }
WEAK uid_t geteuid(void) { return 0; }
WEAK gid_t getgid(void) { return 0; }
WEAK gid_t getegid(void) { return 0; }
WEAK int getgroups(int size, gid_t list[]) {
  (void)size, (void)list;
  return 0;
}
WEAK int setuid(uid_t user) { return user == 0 ? 0 : fail_with(EPERM); }
WEAK int setgid(gid_t group) { return group == 0 ? 0 : fail_with(EPERM); }
WEAK int seteuid(uid_t user) { return setuid(user); }
WEAK int setegid(gid_t group) { return setgid(group); }

static char user_name[] = "guest", empty[] = "", home[] = "/";
static struct passwd the_user = {user_name, empty, 0, 0, empty, home, empty};
static char* no_members[] = {NULL};
static struct group the_group = {user_name, empty, 0, no_members};

WEAK char* getlogin(void) { return user_name; }
WEAK struct passwd* getpwuid(uid_t user) { return user == 0 ? &the_user : NULL; }
WEAK struct passwd* getpwnam(const char* name) { return strcmp(name, user_name) == 0 ? &the_user : NULL; }
WEAK struct passwd* getpwent(void) { return NULL; }
WEAK void setpwent(void) {}
WEAK void endpwent(void) {}
WEAK struct group* getgrgid(gid_t group) { return group == 0 ? &the_group : NULL; }
WEAK struct group* getgrnam(const char* name) { return strcmp(name, user_name) == 0 ? &the_group : NULL; }

// --- processes

WEAK pid_t getppid(void) { return 1; }
WEAK pid_t getpgrp(void) { return getpid(); }
WEAK pid_t getpgid(pid_t pid) { return pid == 0 || pid == getpid() ? getpid() : fail_with(ESRCH); }
WEAK pid_t setsid(void) { return fail_with(EPERM); }
WEAK int nice(int change) {
  (void)change;
  return 0;
}
WEAK pid_t fork(void) { return fail_with(ENOSYS); }
WEAK pid_t vfork(void) { return fail_with(ENOSYS); }
WEAK int execve(const char* path, char* const words[], char* const environment[]) {
  (void)path, (void)words, (void)environment;
  return fail_with(ENOSYS);
}
WEAK int execv(const char* path, char* const words[]) { return execve(path, words, NULL); }
WEAK int execvp(const char* path, char* const words[]) { return execve(path, words, NULL); }
WEAK int execl(const char* path, const char* word, ...) {
  (void)word;
  return execve(path, NULL, NULL);
}
WEAK int execlp(const char* path, const char* word, ...) {
  (void)word;
  return execve(path, NULL, NULL);
}
WEAK pid_t wait(int* status) {
  (void)status;
  return fail_with(ECHILD);
}
WEAK pid_t waitpid(pid_t pid, int* status, int options) {
  (void)pid, (void)status, (void)options;
  return fail_with(ECHILD);
}
WEAK int system(const char* command) { return command == NULL ? 0 : fail_with(ENOSYS); }
WEAK FILE* popen(const char* command, const char* mode) {
  (void)command, (void)mode;
  errno = ENOSYS;
  return NULL;
}
WEAK int pclose(FILE* stream) {
  (void)stream;
  return fail_with(EINVAL);
}
WEAK int pipe(int ends[2]) {
  (void)ends;
  return fail_with(ENOSYS);
}
WEAK int dup(int fd) {
  (void)fd;
  return fail_with(ENOSYS);
}
WEAK int dup2(int from, int to) { return from == to && is_open(from) == 0 ? to : fail_with(ENOSYS); }
WEAK unsigned alarm(unsigned seconds) {
  (void)seconds;
  return 0;
}

WEAK void* dlopen(const char* name, int mode) {
  (void)name, (void)mode;
  return NULL;
}
WEAK void* dlsym(void* library, const char* name) {
  (void)library, (void)name;
  return NULL;
}
WEAK int dlclose(void* library) {
  (void)library;
  return -1;
}
WEAK char* dlerror(void) {
  static char text[] = "libraries cannot be loaded at run time";
  return text;
}

WEAK int getaddrinfo(const char* host, const char* service, const struct addrinfo* hints, struct addrinfo** found) {
  (void)host, (void)service, (void)hints;
  *found = NULL;
  return EAI_FAIL;
}
WEAK void freeaddrinfo(struct addrinfo* list) { (void)list; }
WEAK const char* gai_strerror(int error) {
  (void)error;
  return "a guest has no network";
}
WEAK struct hostent* gethostbyname(const char* name) {
  (void)name;
  return NULL;
}

// --- locales: there is one, C, with and without UTF-8. musl's functions take any name for it; the linker is told to wrap them (clang.cc).

extern char* __real_setlocale(int category, const char* name);
extern locale_t __real_newlocale(int mask, const char* name, locale_t base);

static int is_known_locale(const char* name) {
  static const char* const kNames[] = {"", "C", "POSIX", "C.UTF-8", "C.utf8", "C.UTF8"};
  for (size_t i = 0; i < sizeof kNames / sizeof kNames[0]; ++i) {
    if (strcmp(name, kNames[i]) == 0) return 1;
  }
  return strchr(name, ';') != NULL;  // what setlocale(LC_ALL, NULL) has returned
}

char* __wrap_setlocale(int category, const char* name) {
  return name == NULL || is_known_locale(name) ? __real_setlocale(category, name) : NULL;
}
locale_t __wrap_newlocale(int mask, const char* name, locale_t base) {
  if (is_known_locale(name)) return __real_newlocale(mask, name, base);
  errno = ENOENT;
  return (locale_t)0;
}

// --- resources

WEAK int getrlimit(int which, struct rlimit* limit) {
  if (which < 0 || which >= RLIM_NLIMITS) return fail_with(EINVAL);
  limit->rlim_cur = limit->rlim_max = which == RLIMIT_STACK ? 8u << 20 : which == RLIMIT_CORE ? 0 : RLIM_INFINITY;
  return 0;
}
WEAK int setrlimit(int which, const struct rlimit* limit) {
  struct rlimit now;
  if (getrlimit(which, &now) != 0) return -1;
  return limit->rlim_cur == now.rlim_cur && limit->rlim_max == now.rlim_max ? 0 : fail_with(EPERM);
}
int __godwit_getrusage(int who, struct rusage* usage) {
  if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN) return fail_with(EINVAL);
  memset(usage, 0, sizeof *usage);
  if (who == RUSAGE_CHILDREN) return 0;
  const clock_t used = clock();
  usage->ru_utime.tv_sec = used / CLOCKS_PER_SEC;
  usage->ru_utime.tv_usec = used % CLOCKS_PER_SEC / (CLOCKS_PER_SEC / 1000000);
  return 0;
}
WEAK int getpriority(int which, id_t who) {
  (void)which, (void)who;
  return 0;
}
WEAK int setpriority(int which, id_t who, int priority) {
  (void)which, (void)who, (void)priority;
  return 0;
}

// --- files

WEAK void sync(void) {}

WEAK int truncate(const char* path, off_t size) {
  const int fd = open(path, O_WRONLY);
  if (fd < 0) return -1;
  const int result = ftruncate(fd, size);
  const int error = errno;
  close(fd);
  errno = error;
  return result;
}

// How much a guest may write depends on where it runs.
WEAK int statvfs(const char* path, struct statvfs* status) {
  (void)path, (void)status;
  return fail_with(ENOSYS);
}
WEAK int fstatvfs(int fd, struct statvfs* status) {
  (void)fd, (void)status;
  return fail_with(ENOSYS);
}

// The linker is told to wrap it (clang.cc).
extern int __real_fcntl(int fd, int command, ...);

int __wrap_fcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  int result = 0;
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
    result = fail_with(ENOSYS);
  } else if (command == F_GETLK) {
    va_arg(arguments, struct flock*)->l_type = F_UNLCK;
    result = is_open(fd);
  } else if (command == F_SETLK || command == F_SETLKW) {
    result = is_open(fd);
  } else {
    result = __real_fcntl(fd, command, command == F_SETFD || command == F_SETFL ? va_arg(arguments, int) : 0);
  }
  va_end(arguments);
  return result;
}

// No other process can have the file open: every lock is free.
WEAK int lockf(int fd, int command, off_t size) {
  (void)command, (void)size;
  return is_open(fd);
}

// Fills the X's before the last `suffix` characters with something new. Numbers come from the seeded generator of the host.
static int fill_template(char* template, size_t suffix) {
  static const char kLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_-";
  const size_t size = strlen(template);
  if (size < 6 + suffix || memcmp(template + size - suffix - 6, "XXXXXX", 6) != 0) return fail_with(EINVAL);
  unsigned char random[6];
  if (getentropy(random, sizeof random) != 0) return -1;
  for (size_t i = 0; i < 6; ++i) template[size - suffix - 6 + i] = kLetters[random[i] & 63];
  return 0;
}

static void restore_template(char* template) { memcpy(template + strlen(template) - 6, "XXXXXX", 6); }

enum { kTemplateAttempts = 100 };

WEAK int mkostemp(char* template, int flags) {
  for (int i = 0; i < kTemplateAttempts; ++i) {
    if (fill_template(template, 0) != 0) return -1;
    const int fd = open(template, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
    if (fd >= 0) return fd;
    restore_template(template);
    if (errno != EEXIST) return -1;
  }
  return -1;
}
WEAK int mkstemp(char* template) { return mkostemp(template, 0); }
WEAK char* mkdtemp(char* template) {
  for (int i = 0; i < kTemplateAttempts; ++i) {
    if (fill_template(template, 0) != 0) return NULL;
    if (mkdir(template, 0700) == 0) return template;
    restore_template(template);
    if (errno != EEXIST) return NULL;
  }
  return NULL;
}
WEAK char* mktemp(char* template) {
  for (int i = 0; i < kTemplateAttempts; ++i) {
    if (fill_template(template, 0) != 0) break;
    if (exists(template) != 0) return template;
    restore_template(template);
  }
  if (template[0] != '\0') template[0] = '\0';
  return template;
}

// In /tmp if there is one, else in the root.
static const char* temporary_folder(void) { return exists(P_tmpdir) == 0 ? P_tmpdir : ""; }

char* __godwit_tmpnam(char* buffer) {
  static char own[L_tmpnam];
  char* const name = buffer != NULL ? buffer : own;
  snprintf(name, L_tmpnam, "%s/tmp.XXXXXX", temporary_folder());
  return mktemp(name)[0] != '\0' ? name : NULL;
}

FILE* __godwit_tmpfile(void) {
  char name[L_tmpnam];
  snprintf(name, sizeof name, "%s/tmp.XXXXXX", temporary_folder());
  const int fd = mkstemp(name);
  if (fd < 0) return NULL;
  unlink(name);
  return fdopen(fd, "w+");
}

// One step of realpath: appends a component to `path`, which is absolute and has no final slash, or takes one away.
static int append_component(char path[PATH_MAX], const char* component, size_t size) {
  const size_t length = strlen(path);
  if (size == 0 || (size == 1 && component[0] == '.')) return 0;
  if (size == 2 && component[0] == '.' && component[1] == '.') {
    char* const slash = strrchr(path, '/');
    if (slash != NULL) *slash = '\0';
    return 0;
  }
  if (length + 1 + size >= PATH_MAX) return fail_with(ENAMETOOLONG);
  path[length] = '/';
  memcpy(path + length + 1, component, size);
  path[length + 1 + size] = '\0';
  return 0;
}

enum { kMaxLinks = 40 };

WEAK char* realpath(const char* path, char* resolved) {
  char left[PATH_MAX], done[PATH_MAX] = "", link[PATH_MAX];
  if (path == NULL || *path == '\0') {
    errno = path == NULL ? EINVAL : ENOENT;
    return NULL;
  }
  if (strlen(path) >= sizeof left) {
    errno = ENAMETOOLONG;
    return NULL;
  }
  strcpy(left, path);
  if (path[0] != '/' && (getcwd(done, sizeof done) == NULL || strcmp(done, "/") == 0)) done[0] = '\0';
  int links = 0;
  for (char* at = left; *at != '\0';) {
    const size_t size = strcspn(at, "/");
    const size_t before = strlen(done);
    if (append_component(done, at, size) != 0) return NULL;
    at += size + (at[size] == '/');
    if (strlen(done) <= before) continue;
    struct stat status;
    if (lstat(done, &status) != 0) return NULL;
    if (!S_ISLNK(status.st_mode)) continue;
    const ssize_t length = ++links > kMaxLinks ? -1 : readlink(done, link, sizeof link - 1);
    if (length < 0 || (size_t)length + 1 + strlen(at) >= sizeof left) {
      errno = links > kMaxLinks ? ELOOP : ENAMETOOLONG;
      return NULL;
    }
    memmove(left + length + 1, at, strlen(at) + 1);
    memcpy(left, link, (size_t)length);
    left[length] = '/';
    at = left;
    done[link[0] == '/' ? 0 : before] = '\0';
  }
  if (done[0] == '\0') strcpy(done, "/");
  return resolved != NULL ? strcpy(resolved, done) : strdup(done);
}
