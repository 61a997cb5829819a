#pragma once
// WASI preview 1: what a guest can ask of its host.

#include <cstdint>
#include <optional>
#include <span>

#include "isolate/files/input_files.h"
#include "isolate/files/path_walk.h"
#include "isolate/limits.h"
#include "isolate/memory/guest_buffers.h"
#include "isolate/memory/guest_memory.h"
#include "isolate/stop.h"
#include "isolate/thread_host.h"
#include "isolate/wasi/clock_gate.h"
#include "isolate/wasi/stdio.h"
#include "isolate/wasi/wasi_errno.h"
#include "isolate/wasi/wasi_state.h"

namespace gw::isolate {

// The statement of a program built for debugging about its exceptions.
enum class ThrowMark : std::uint8_t { thrown, uncaught };

// How the guest continues after a host call.
enum class After : std::uint8_t {
  proceed,  // it gets the code
  park,     // it must wait: call again later with the same arguments (Wasi::waiting() says for what)
  end,      // it has ended (Wasi::ending() says how)
};

struct CallResult {
  Errno code = Errno::success;
  After after = After::proceed;

  CallResult(Errno answer) : code(answer) {}
  CallResult(After next) : after(next) {}
};

// The calls, written against a checked view of guest memory, without any engine. Addresses and lengths are the guest's and may be anything.
//
// A call that parks has changed nothing but `state().parked` and what belongs to it, so that it can be repeated, here or after a move.
// Belongs to the isolate's pool thread.
class Wasi {
 public:
  struct World {
    InputSource& input;
    OutputSink& output;
    OutputSink& errors;
    ClockGate& clock;
    Determinants& determinants;
    ChunkSource& chunks;
    ThreadHost& thread = LoneThread::instance();
  };

  Wasi(WasiState state, World world, const Limits& limits);

  CallResult args_sizes_get(GuestMemory memory, std::uint32_t count, std::uint32_t size);
  CallResult args_get(GuestMemory memory, std::uint32_t list, std::uint32_t text);
  CallResult environ_sizes_get(GuestMemory memory, std::uint32_t count, std::uint32_t size);
  CallResult environ_get(GuestMemory memory, std::uint32_t list, std::uint32_t text);
  CallResult clock_res_get(GuestMemory memory, std::uint32_t clock, std::uint32_t out);
  CallResult clock_time_get(GuestMemory memory, std::uint32_t clock, std::uint64_t precision, std::uint32_t out);
  CallResult random_get(GuestMemory memory, std::uint32_t address, std::uint32_t length);
  CallResult proc_exit(GuestMemory memory, std::uint32_t code);
  CallResult sched_yield(GuestMemory memory);
  CallResult checkpoint(GuestMemory memory);
  CallResult fork(GuestMemory memory, std::uint32_t child);
  CallResult mark_throw(GuestMemory memory, std::uint32_t mark);
  CallResult report(GuestMemory memory, std::uint32_t address, std::uint32_t length);
  CallResult task_argument(GuestMemory memory, std::uint32_t address, std::uint32_t length);
  CallResult task_next(GuestMemory memory, std::uint32_t function, std::uint32_t length);
  CallResult task_result(GuestMemory memory, std::uint32_t address, std::uint32_t length);
  CallResult thread_id(GuestMemory memory, std::uint32_t out);
  CallResult send(GuestMemory memory, std::uint64_t to, std::uint64_t tag, std::uint32_t address, std::uint32_t length);
  CallResult receive(GuestMemory memory, std::uint32_t header, std::uint32_t address, std::uint32_t capacity, std::uint64_t timeout);
  CallResult watch(GuestMemory memory, std::uint64_t thread);
  CallResult poll_oneoff(GuestMemory memory, std::uint32_t in, std::uint32_t out, std::uint32_t count, std::uint32_t stored);

  CallResult fd_advise(GuestMemory memory, std::uint32_t fd, std::uint64_t offset, std::uint64_t length, std::uint32_t advice);
  CallResult fd_allocate(GuestMemory memory, std::uint32_t fd, std::uint64_t offset, std::uint64_t length);
  CallResult fd_close(GuestMemory memory, std::uint32_t fd);
  CallResult fd_datasync(GuestMemory memory, std::uint32_t fd);
  CallResult fd_fdstat_get(GuestMemory memory, std::uint32_t fd, std::uint32_t out);
  CallResult fd_fdstat_set_flags(GuestMemory memory, std::uint32_t fd, std::uint32_t flags);
  CallResult fd_fdstat_set_rights(GuestMemory memory, std::uint32_t fd, std::uint64_t rights, std::uint64_t inheriting);
  CallResult fd_filestat_get(GuestMemory memory, std::uint32_t fd, std::uint32_t out);
  CallResult fd_filestat_set_size(GuestMemory memory, std::uint32_t fd, std::uint64_t size);
  CallResult fd_filestat_set_times(GuestMemory memory, std::uint32_t fd, std::uint64_t accessed, std::uint64_t modified,
                                   std::uint32_t flags);
  CallResult fd_pread(GuestMemory memory, std::uint32_t fd, std::uint32_t vectors, std::uint32_t count, std::uint64_t offset,
                      std::uint32_t done);
  CallResult fd_prestat_dir_name(GuestMemory memory, std::uint32_t fd, std::uint32_t path, std::uint32_t length);
  CallResult fd_prestat_get(GuestMemory memory, std::uint32_t fd, std::uint32_t out);
  CallResult fd_pwrite(GuestMemory memory, std::uint32_t fd, std::uint32_t vectors, std::uint32_t count, std::uint64_t offset,
                       std::uint32_t done);
  CallResult fd_read(GuestMemory memory, std::uint32_t fd, std::uint32_t vectors, std::uint32_t count, std::uint32_t done);
  CallResult fd_readdir(GuestMemory memory, std::uint32_t fd, std::uint32_t buffer, std::uint32_t length, std::uint64_t cookie,
                        std::uint32_t used);
  CallResult fd_renumber(GuestMemory memory, std::uint32_t from, std::uint32_t to);
  CallResult fd_seek(GuestMemory memory, std::uint32_t fd, std::uint64_t distance, std::uint32_t whence, std::uint32_t out);
  CallResult fd_sync(GuestMemory memory, std::uint32_t fd);
  CallResult fd_tell(GuestMemory memory, std::uint32_t fd, std::uint32_t out);
  CallResult fd_write(GuestMemory memory, std::uint32_t fd, std::uint32_t vectors, std::uint32_t count, std::uint32_t done);

  CallResult path_create_directory(GuestMemory memory, std::uint32_t fd, std::uint32_t path, std::uint32_t length);
  CallResult path_filestat_get(GuestMemory memory, std::uint32_t fd, std::uint32_t lookup, std::uint32_t path, std::uint32_t length,
                               std::uint32_t out);
  CallResult path_filestat_set_times(GuestMemory memory, std::uint32_t fd, std::uint32_t lookup, std::uint32_t path, std::uint32_t length,
                                     std::uint64_t accessed, std::uint64_t modified, std::uint32_t flags);
  CallResult path_link(GuestMemory memory, std::uint32_t old_fd, std::uint32_t lookup, std::uint32_t old_path, std::uint32_t old_length,
                       std::uint32_t new_fd, std::uint32_t new_path, std::uint32_t new_length);
  CallResult path_open(GuestMemory memory, std::uint32_t fd, std::uint32_t lookup, std::uint32_t path, std::uint32_t length,
                       std::uint32_t open_flags, std::uint64_t rights, std::uint64_t inheriting, std::uint32_t fd_flags, std::uint32_t out);
  CallResult path_readlink(GuestMemory memory, std::uint32_t fd, std::uint32_t path, std::uint32_t length, std::uint32_t buffer,
                           std::uint32_t buffer_length, std::uint32_t used);
  CallResult path_remove_directory(GuestMemory memory, std::uint32_t fd, std::uint32_t path, std::uint32_t length);
  CallResult path_rename(GuestMemory memory, std::uint32_t old_fd, std::uint32_t old_path, std::uint32_t old_length, std::uint32_t new_fd,
                         std::uint32_t new_path, std::uint32_t new_length);
  CallResult path_symlink(GuestMemory memory, std::uint32_t target, std::uint32_t target_length, std::uint32_t fd, std::uint32_t path,
                          std::uint32_t length);
  CallResult path_unlink_file(GuestMemory memory, std::uint32_t fd, std::uint32_t path, std::uint32_t length);

  bool is_open(std::uint32_t fd) { return state_.descriptors.find(fd) != nullptr; }

  // After a call that parked.
  Wait waiting() const;
  // After a call that ended the guest.
  // The mark of the last call, if it was mark_throw.
  std::optional<ThrowMark> take_throw_mark() { return std::exchange(throw_mark_, std::nullopt); }
  const Stop& ending() const {
    GW_ASSERT(ending_.has_value());
    return *ending_;
  }

  // Parked in fork(), which then returns as answered.
  bool wants_fork() const { return state_.parked == ParkedCall::fork; }
  void answer_fork(std::uint64_t child);
  void refuse_fork();

  // Remembers from now on what changes in the files, so that put_back() costs that.
  void follow_changes() { state_.files.follow_changes(); }
  // Back to the state at follow_changes().
  void put_back(const WasiState& state);
  // Sets the beginning of a guest. Kind::invalid: its files do not go with those that are there. REQUIRES: it has not run since it was made
  // or put back, and is put back after a failure.
  Status set_start(GuestStart start);

  // The state for an image, with the time of the guest's clock.
  const WasiState& saved_state();
  FileTree& files() { return state_.files; }

 private:
  struct Subscription;
  class EventWriter;
  struct PathArgument {
    std::uint32_t address, length;
  };
  enum class Input : std::uint8_t { ready, ended, not_yet, failed };

  Input look_for_input();
  CallResult read_input(GuestMemory memory, const GuestBuffers& buffers, std::uint32_t done);
  CallResult write_output(GuestMemory memory, Descriptor::Kind stream, const GuestBuffers& buffers, std::uint32_t done);

  // The descriptor, if it is open and has the right; a node, if it must be one.
  OrErrno<Descriptor*> descriptor(std::uint32_t fd, std::uint64_t rights);
  OrErrno<Descriptor*> node_descriptor(std::uint32_t fd, std::uint64_t rights, Errno on_stream);
  OrErrno<Descriptor*> file_descriptor(std::uint32_t fd, std::uint64_t rights, Errno on_stream);
  // Where a path leads that the guest gives relative to a descriptor.
  OrErrno<ResolvedPath> resolve(GuestMemory memory, std::uint32_t fd, std::uint64_t rights, PathArgument path, LastLink last_link);
  OrErrno<ResolvedPath> resolve_new(GuestMemory memory, std::uint32_t fd, std::uint64_t rights, PathArgument path);
  OrErrno<Inode> node_to_open(const ResolvedPath& path, std::uint32_t open_flags, std::uint64_t rights);
  Status learn_time();
  CallResult set_times(Inode inode, std::uint64_t accessed, std::uint64_t modified, std::uint32_t flags);

  struct Transfer;  // of bytes between a file and the guest's memory
  CallResult read_file(Transfer transfer);
  CallResult write_file(Transfer transfer);
  Result<std::optional<std::uint64_t>> copy_input(const InputFile& file, const Transfer& transfer, std::uint64_t wanted);
  void read_ahead(const InputFile& file, std::size_t chunk);

  // now: its events are added. later: it must be waited for. not_yet: the call may end without. never: it does.
  enum class Ready : std::uint8_t { now, later, not_yet, never };
  // Without input the call can end, or has to wait for it.
  enum class WithoutInput : std::uint8_t { ends, waits };

  bool add_certain_event(const Subscription& subscription, EventWriter& events);
  CallResult wait_for_events(std::span<const Subscription> clocks, std::span<const Subscription> inputs, EventWriter& events);
  Result<Ready> input_ready(std::span<const Subscription> inputs, EventWriter& events, WithoutInput without_input);
  Result<Ready> choose(Ready ready);
  Result<std::uint64_t> sleep_deadline(const Subscription& subscription);
  Status choose_sleeper(std::span<const Subscription> list);

  Status set_mail_deadline(std::uint64_t timeout);
  CallResult give_mail(GuestMemory memory, std::uint32_t header, std::span<std::uint8_t> room, const MailItem& item);
  // Nothing of the call has happened, so nothing of the wait is saved: in an image the guest is just about to make the call.
  CallResult park_for_room(Outlet outlet) {
    awaited_room_ = outlet;
    return After::park;
  }
  CallResult park(ParkedCall call) {
    awaited_room_.reset();
    if (call != ParkedCall::sleep && call != ParkedCall::timed_mail) state_.deadline = 0, state_.sleeper = 0;
    state_.parked = call;
    return After::park;
  }
  void unpark() {
    state_.parked = ParkedCall::none;
    state_.deadline = 0;
    state_.sleeper = 0;
    state_.progress = 0;
  }
  CallResult end(Stop stop) {
    ending_ = std::move(stop);
    return After::end;
  }
  CallResult host_failure(const Error& error) { return end(Trapped{TrapKind::host_failure, "", error.detail, ""}); }

  WasiState state_;
  World world_;
  ChunkCache chunks_;
  std::uint64_t max_output_;
  bool input_ends_sleep_ = false;
  Hash256 awaited_;                     // while it is parked for a chunk
  std::optional<Outlet> awaited_room_;  // while it is parked for room
  std::optional<Stop> ending_;
  std::optional<ThrowMark> throw_mark_;
};

}  // namespace gw::isolate
