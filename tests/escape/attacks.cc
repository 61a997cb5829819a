#include "attacks.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace gw::test {
namespace {

constexpr const char* kSecret = "/etc/passwd";

bool readable(long fd) {
  char byte;
  return fd >= 0 && ::read(static_cast<int>(fd), &byte, 1) == 1;
}

// --- files

bool open_file(const Targets&) { return readable(::open(kSecret, O_RDONLY)); }
bool open_by_dots(const Targets&) { return readable(::open("/usr/share/../../../../etc/passwd", O_RDONLY)); }
bool open_by_old_call(const Targets&) { return readable(::syscall(SYS_open, kSecret, O_RDONLY)); }

bool open_by_new_call(const Targets&) {
  const std::uint64_t how[3] = {O_RDONLY, 0, 0};
  return readable(::syscall(SYS_openat2, AT_FDCWD, kSecret, how, sizeof how));
}

bool open_by_handle(const Targets&) {
  struct {
    unsigned size;
    int type;
    unsigned char bytes[128];
  } handle{sizeof handle.bytes, 0, {}};
  int mount = 0;
  if (::syscall(SYS_name_to_handle_at, AT_FDCWD, kSecret, &handle, &mount, 0) != 0) return false;
  return readable(::syscall(SYS_open_by_handle_at, ::open("/etc", O_RDONLY | O_DIRECTORY), &handle, O_RDONLY));
}

bool open_by_io_uring(const Targets&) {
  io_uring_params params{};
  return ::syscall(SYS_io_uring_setup, 4, &params) >= 0;
}

bool read_proc(const Targets& targets) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/cmdline", targets.parent);
  return readable(::open(path, O_RDONLY));
}

bool use_leaked_descriptor(const Targets&) { return readable(kLeakedFile); }

bool look_at_file(const Targets&) {
  struct stat facts{};
  return ::stat(kSecret, &facts) == 0;
}

bool plant_code(const Targets& targets) {
  char path[512];
  std::snprintf(path, sizeof path, "%s/planted", targets.folder);
  const int fd = ::open(path, O_WRONLY | O_CREAT, 0600);
  return fd >= 0 && ::write(fd, "code", 4) == 4;
}

// --- network

bool connect_out(const Targets& targets) {
  sockaddr_in address{.sin_family = AF_INET,
                      .sin_port = htons(static_cast<std::uint16_t>(targets.tcp_port)),
                      .sin_addr = {htonl(INADDR_LOOPBACK)},
                      .sin_zero = {}};
  return ::connect(::socket(AF_INET, SOCK_STREAM, 0), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

bool listen_for_others(const Targets&) {
  sockaddr_in address{.sin_family = AF_INET, .sin_port = htons(0), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  return ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && ::listen(socket, 1) == 0;
}

bool make_socket(const Targets&) { return ::socket(AF_INET, SOCK_DGRAM, 0) >= 0; }

// --- processes

bool exec(const Targets&) {
  // Reports its own success: this process is gone by then.
  ::execl("/bin/sh", "sh", "-c", "exit 42", nullptr);
  return false;
}

bool fork_process(const Targets&) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  return child > 0;
}

bool clone_into_namespaces(const Targets&) { return ::unshare(CLONE_NEWUSER) == 0; }
bool trace_parent(const Targets& targets) { return ::ptrace(PTRACE_SEIZE, targets.parent, nullptr, nullptr) == 0; }
bool signal_parent(const Targets& targets) { return ::kill(targets.parent, SIGURG) == 0; }

bool read_parent(const Targets& targets) {
  char byte = 0;
  const iovec here{&byte, 1}, there{const_cast<void*>(targets.parent_memory), 1};
  return ::process_vm_readv(targets.parent, &here, 1, &there, 1, 0) == 1;
}

bool become_root(const Targets&) { return ::setuid(0) == 0 && ::geteuid() == 0; }

// --- the kernel

// Worked if the command reached a driver at all, which says that this is no terminal.
bool push_keys(const Targets&) { return ::ioctl(STDERR_FILENO, TIOCSTI, "x") == 0 || errno != 0; }

bool load_bpf(const Targets&) {
  bpf_attr map{};
  map.map_type = BPF_MAP_TYPE_ARRAY;
  map.key_size = map.value_size = 4;
  map.max_entries = 1;
  return ::syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof map) >= 0;
}

bool catch_faults(const Targets&) { return ::syscall(SYS_userfaultfd, O_CLOEXEC | 1) >= 0; }

// --- exhaustion

bool exhaust_memory(const Targets&) {
  for (unsigned long taken = 0; taken < 2 * kDataBytes; taken += 1u << 20) {
    void* piece = ::mmap(nullptr, 1u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED) return false;
    std::memset(piece, 1, 1u << 20);
  }
  return true;
}

bool exhaust_files_in_memory(const Targets&) { return ::ftruncate(::memfd_create("x", 0), 2 * kFileBytes) == 0; }

bool exhaust_descriptors(const Targets&) {
  for (unsigned i = 0; i < 2 * kDescriptors; i++)
    if (::memfd_create("x", 0) < 0) return false;
  return true;
}

bool exhaust_threads(const Targets&) {
  pthread_attr_t small;
  ::pthread_attr_init(&small);
  ::pthread_attr_setstacksize(&small, 64u << 10);
  for (unsigned i = 0; i < 2 * kThreads; i++) {
    pthread_t thread;
    const auto idle = [](void*) -> void* {
      for (;;) ::poll(nullptr, 0, -1);
    };
    if (::pthread_create(&thread, &small, idle, nullptr) != 0) return false;
  }
  return true;
}

bool exhaust_cpu(const Targets&) {
  timespec used{};
  while (used.tv_sec <= static_cast<time_t>(kCpuSeconds)) ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return true;
}

constexpr Attack kAttacks[] = {
    {"open_file", open_file},
    {"open_by_dots", open_by_dots},
    {"open_by_old_call", open_by_old_call},
    {"open_by_new_call", open_by_new_call},
    {"open_by_handle", open_by_handle},
    {"open_by_io_uring", open_by_io_uring},
    {"read_proc", read_proc},
    {"use_leaked_descriptor", use_leaked_descriptor},
    {"look_at_file", look_at_file},
    {"plant_code", plant_code},
    {"connect_out", connect_out},
    {"listen_for_others", listen_for_others},
    {"make_socket", make_socket},
    {"exec", exec},
    {"fork_process", fork_process},
    {"clone_into_namespaces", clone_into_namespaces},
    {"trace_parent", trace_parent},
    {"signal_parent", signal_parent},
    {"read_parent", read_parent},
    {"become_root", become_root},
    {"push_keys", push_keys},
    {"load_bpf", load_bpf},
    {"catch_faults", catch_faults},
    {"exhaust_memory", exhaust_memory},
    {"exhaust_files_in_memory", exhaust_files_in_memory},
    {"exhaust_descriptors", exhaust_descriptors},
    {"exhaust_threads", exhaust_threads},
    {"exhaust_cpu", exhaust_cpu},
};

}  // namespace

std::span<const Attack> attacks() { return kAttacks; }

}  // namespace gw::test
