#include "isolate/wasi/host_imports.h"

#include <algorithm>
#include <array>
#include <utility>

namespace gw::isolate {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using wire::kGodwitModule;
using wire::kWasiModule;

template <class... Params>
constexpr std::array<char, sizeof...(Params)> kLetters = {(std::is_same_v<Params, u64> ? 'I' : 'i')...};

template <class... Params>
constexpr std::string_view params_of() {
  return std::string_view(kLetters<Params...>.data(), sizeof...(Params));
}

template <auto kMethod>
struct Method;

// Takes type and argument passing of an import from the member function that implements it.
template <class... Params, CallResult (Wasi::*kMethod)(GuestMemory, Params...)>
struct Method<kMethod> {
  static_assert(sizeof...(Params) <= kMaxImportParams);
  static constexpr std::string_view params() { return params_of<Params...>(); }
  static CallResult call(Wasi& wasi, GuestMemory memory, const u64* args) {
    return spread(wasi, memory, args, std::index_sequence_for<Params...>{});
  }

 private:
  template <std::size_t... kIndex>
  static CallResult spread(Wasi& wasi, GuestMemory memory, [[maybe_unused]] const u64* args, std::index_sequence<kIndex...>) {
    return (wasi.*kMethod)(memory, static_cast<Params>(args[kIndex])...);
  }
};

enum class Answers { errno_code, nothing };

template <auto kMethod>
constexpr HostImport import(std::string_view name, std::string_view module = kWasiModule, Answers answers = Answers::errno_code) {
  return {module, name, Method<kMethod>::params(), answers == Answers::errno_code, wire::Blocking::never, Method<kMethod>::call};
}

// A call for a kind of descriptor that does not exist here.
template <Errno kAnswer, class... Params>
constexpr HostImport fd_call(std::string_view name) {
  auto call = [](Wasi& wasi, GuestMemory, const u64* args) -> CallResult {
    return wasi.is_open(static_cast<u32>(args[0])) ? kAnswer : Errno::badf;
  };
  return {kWasiModule, name, params_of<Params...>(), true, wire::Blocking::never, call};
}

template <Errno kAnswer, class... Params>
constexpr HostImport always(std::string_view name) {
  return {kWasiModule, name, params_of<Params...>(), true, wire::Blocking::never, [](Wasi&, GuestMemory, const u64*) -> CallResult {
            return kAnswer;
          }};
}

constexpr std::array kTable = {
    import <&Wasi::checkpoint>("checkpoint", kGodwitModule, Answers::nothing),
    import <&Wasi::fork>("fork", kGodwitModule),
    import <&Wasi::mark_throw>("mark_throw", kGodwitModule, Answers::nothing),
    import <&Wasi::receive>("receive", kGodwitModule),
    import <&Wasi::report>("report", kGodwitModule),
    import <&Wasi::send>("send", kGodwitModule),
    import <&Wasi::task_argument>("task_argument", kGodwitModule),
    import <&Wasi::task_next>("task_next", kGodwitModule),
    import <&Wasi::task_result>("task_result", kGodwitModule),
    import <&Wasi::thread_id>("thread_id", kGodwitModule),
    import <&Wasi::watch>("watch", kGodwitModule),
    import <&Wasi::args_get>("args_get"),
    import <&Wasi::args_sizes_get>("args_sizes_get"),
    import <&Wasi::clock_res_get>("clock_res_get"),
    import <&Wasi::clock_time_get>("clock_time_get"),
    import <&Wasi::environ_get>("environ_get"),
    import <&Wasi::environ_sizes_get>("environ_sizes_get"),
    import <&Wasi::fd_advise>("fd_advise"),
    import <&Wasi::fd_allocate>("fd_allocate"),
    import <&Wasi::fd_close>("fd_close"),
    import <&Wasi::fd_datasync>("fd_datasync"),
    import <&Wasi::fd_fdstat_get>("fd_fdstat_get"),
    import <&Wasi::fd_fdstat_set_flags>("fd_fdstat_set_flags"),
    import <&Wasi::fd_fdstat_set_rights>("fd_fdstat_set_rights"),
    import <&Wasi::fd_filestat_get>("fd_filestat_get"),
    import <&Wasi::fd_filestat_set_size>("fd_filestat_set_size"),
    import <&Wasi::fd_filestat_set_times>("fd_filestat_set_times"),
    import <&Wasi::fd_pread>("fd_pread"),
    import <&Wasi::fd_prestat_dir_name>("fd_prestat_dir_name"),
    import <&Wasi::fd_prestat_get>("fd_prestat_get"),
    import <&Wasi::fd_pwrite>("fd_pwrite"),
    import <&Wasi::fd_read>("fd_read"),
    import <&Wasi::fd_readdir>("fd_readdir"),
    import <&Wasi::fd_renumber>("fd_renumber"),
    import <&Wasi::fd_seek>("fd_seek"),
    import <&Wasi::fd_sync>("fd_sync"),
    import <&Wasi::fd_tell>("fd_tell"),
    import <&Wasi::fd_write>("fd_write"),
    import <&Wasi::path_create_directory>("path_create_directory"),
    import <&Wasi::path_filestat_get>("path_filestat_get"),
    import <&Wasi::path_filestat_set_times>("path_filestat_set_times"),
    import <&Wasi::path_link>("path_link"),
    import <&Wasi::path_open>("path_open"),
    import <&Wasi::path_readlink>("path_readlink"),
    import <&Wasi::path_remove_directory>("path_remove_directory"),
    import <&Wasi::path_rename>("path_rename"),
    import <&Wasi::path_symlink>("path_symlink"),
    import <&Wasi::path_unlink_file>("path_unlink_file"),
    import <&Wasi::poll_oneoff>("poll_oneoff"),
    import <&Wasi::proc_exit>("proc_exit", kWasiModule, Answers::nothing),
    always<Errno::nosys, u32>("proc_raise"),
    import <&Wasi::random_get>("random_get"),
    import <&Wasi::sched_yield>("sched_yield"),
    fd_call<Errno::notsock, u32, u32, u32>("sock_accept"),
    fd_call<Errno::notsock, u32, u32, u32, u32, u32, u32>("sock_recv"),
    fd_call<Errno::notsock, u32, u32, u32, u32, u32>("sock_send"),
    fd_call<Errno::notsock, u32, u32>("sock_shutdown"),
};

// Joins this table with the one the pre-processor goes by, so that both agree on what may block.
std::array<HostImport, kTable.size()> joined() {
  auto table = kTable;
  auto functions = wire::host_functions();
  GW_ASSERT(functions.size() == table.size());
  for (std::size_t i = 0; i < table.size(); i++) {
    GW_ASSERT(functions[i].module == table[i].module && functions[i].name == table[i].name);
    table[i].blocking = functions[i].blocking;
  }
  return table;
}

}  // namespace

std::span<const HostImport> host_imports() {
  static const auto kJoined = joined();
  return kJoined;
}

}  // namespace gw::isolate
