#include "wire/wasm/wasi_imports.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace gw::wire {
namespace {

using enum Blocking;

constexpr std::array kHostFunctions = {
    HostFunction{kGodwitModule, "checkpoint", maybe},
    HostFunction{kGodwitModule, "fork", maybe},
    HostFunction{kGodwitModule, "mark_throw", never},
    HostFunction{kGodwitModule, "receive", maybe},
    HostFunction{kGodwitModule, "report", maybe},
    HostFunction{kGodwitModule, "send", maybe},
    HostFunction{kGodwitModule, "task_argument", never},
    HostFunction{kGodwitModule, "task_next", never},
    HostFunction{kGodwitModule, "task_result", never},
    HostFunction{kGodwitModule, "thread_id", never},
    HostFunction{kGodwitModule, "watch", maybe},
    HostFunction{kWasiModule, "args_get", never},
    HostFunction{kWasiModule, "args_sizes_get", never},
    HostFunction{kWasiModule, "clock_res_get", never},
    HostFunction{kWasiModule, "clock_time_get", maybe},
    HostFunction{kWasiModule, "environ_get", never},
    HostFunction{kWasiModule, "environ_sizes_get", never},
    HostFunction{kWasiModule, "fd_advise", never},
    HostFunction{kWasiModule, "fd_allocate", never},
    HostFunction{kWasiModule, "fd_close", never},
    HostFunction{kWasiModule, "fd_datasync", never},
    HostFunction{kWasiModule, "fd_fdstat_get", never},
    HostFunction{kWasiModule, "fd_fdstat_set_flags", never},
    HostFunction{kWasiModule, "fd_fdstat_set_rights", never},
    HostFunction{kWasiModule, "fd_filestat_get", never},
    HostFunction{kWasiModule, "fd_filestat_set_size", never},
    HostFunction{kWasiModule, "fd_filestat_set_times", never},
    HostFunction{kWasiModule, "fd_pread", maybe},
    HostFunction{kWasiModule, "fd_prestat_dir_name", never},
    HostFunction{kWasiModule, "fd_prestat_get", never},
    HostFunction{kWasiModule, "fd_pwrite", never},
    HostFunction{kWasiModule, "fd_read", maybe},
    HostFunction{kWasiModule, "fd_readdir", never},
    HostFunction{kWasiModule, "fd_renumber", never},
    HostFunction{kWasiModule, "fd_seek", never},
    HostFunction{kWasiModule, "fd_sync", never},
    HostFunction{kWasiModule, "fd_tell", never},
    HostFunction{kWasiModule, "fd_write", maybe},
    HostFunction{kWasiModule, "path_create_directory", never},
    HostFunction{kWasiModule, "path_filestat_get", never},
    HostFunction{kWasiModule, "path_filestat_set_times", never},
    HostFunction{kWasiModule, "path_link", never},
    HostFunction{kWasiModule, "path_open", never},
    HostFunction{kWasiModule, "path_readlink", never},
    HostFunction{kWasiModule, "path_remove_directory", never},
    HostFunction{kWasiModule, "path_rename", never},
    HostFunction{kWasiModule, "path_symlink", never},
    HostFunction{kWasiModule, "path_unlink_file", never},
    HostFunction{kWasiModule, "poll_oneoff", maybe},
    HostFunction{kWasiModule, "proc_exit", never},
    HostFunction{kWasiModule, "proc_raise", never},
    HostFunction{kWasiModule, "random_get", never},
    HostFunction{kWasiModule, "sched_yield", maybe},
    HostFunction{kWasiModule, "sock_accept", never},
    HostFunction{kWasiModule, "sock_recv", never},
    HostFunction{kWasiModule, "sock_send", never},
    HostFunction{kWasiModule, "sock_shutdown", never},
};

constexpr std::array kReplacedFunctions = {
    HostFunction{kGodwitModule, "thread_frames", never},
    HostFunction{kGodwitModule, "thread_run", never},  // calls a function, and is left and entered again like one
    HostFunction{kGodwitModule, "thread_switch", maybe},
};

constexpr bool before(const HostFunction& a, const HostFunction& b) { return std::tie(a.module, a.name) < std::tie(b.module, b.name); }
static_assert(std::is_sorted(kHostFunctions.begin(), kHostFunctions.end(), before));
static_assert(std::is_sorted(kReplacedFunctions.begin(), kReplacedFunctions.end(), before));

const HostFunction* find_in(std::span<const HostFunction> functions, const HostFunction& wanted) {
  const auto found = std::lower_bound(functions.begin(), functions.end(), wanted, before);
  return found == functions.end() || before(wanted, *found) ? nullptr : &*found;
}

}  // namespace

std::span<const HostFunction> host_functions() { return kHostFunctions; }
std::span<const HostFunction> replaced_functions() { return kReplacedFunctions; }

const HostFunction* find_importable(std::string_view module, std::string_view name) {
  const HostFunction wanted{module, name, never};
  const HostFunction* host = find_in(kHostFunctions, wanted);
  return host ? host : find_in(kReplacedFunctions, wanted);
}

}  // namespace gw::wire
