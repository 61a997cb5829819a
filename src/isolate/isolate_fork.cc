// Forking isolates.

#include <cstring>

#include "isolate/isolate.h"
#include "isolate/memory/memory_history.h"
#include "isolate/memory/memory_snapshot.h"
#include "isolate/memory/memory_watch.h"

namespace gw::isolate {
namespace {

// Pages that the parent has written since the snapshot are copied for each child. Beyond this size, and an eighth of the snapshot, it pays
// to take a new one.
constexpr std::size_t kStaleBytes = 1u << 20;
constexpr std::size_t kStalePart = 8;

struct Change {
  std::size_t offset;
  Bytes bytes;
};

using Ranges = MemorySnapshot::Ranges;

Ranges written_since_snapshot(const MemoryWatch& watch, std::span<std::uint8_t> memory) {
  Ranges ranges;
  watch.not_of_file({memory.data(), memory.size()}, [&](std::uint8_t* start, std::size_t bytes) { ranges.emplace_back(start, bytes); });
  return ranges;
}

bool is_stale(const MemorySnapshot& snapshot, const Ranges& written) {
  std::size_t bytes = 0;
  for (const auto& range : written) bytes += range.size();
  return bytes > kStaleBytes && bytes > snapshot.pages().size() * wire::kPageBytes / kStalePart;
}

// The random numbers of a child are others than its parent's, and the same again when the fork is replayed.
GuestRandom random_of_child(const GuestRandom& parent, std::uint64_t child) {
  ByteWriter writer;
  writer.bytes(parent.seed());
  writer.u64(parent.position());
  writer.u64(child);
  return GuestRandom(sha256(writer.take()).bytes, 0);
}

// A child has an empty inbox and its own output.
WasiState state_of_child(WasiState state, std::uint64_t child) {
  state.parked = ParkedCall::forked_child;
  state.deadline = 0;
  state.random = random_of_child(state.random, child);
  state.input.clear();
  state.input_ended = true;
  state.output_bytes = 0;
  return state;
}

}  // namespace

struct ForkPoint::Content {
  std::shared_ptr<const Module> module;
  Limits limits;
  Isolate::Core core;
  std::shared_ptr<const MemorySnapshot> snapshot;
  std::vector<Change> changes;             // of the parent's memory, since the snapshot
  std::unique_ptr<MemoryHistory> history;  // null: writes are not tracked
};

ForkPoint::ForkPoint(std::unique_ptr<Content> content) : content_(std::move(content)) {}
ForkPoint::ForkPoint(ForkPoint&&) noexcept = default;
ForkPoint& ForkPoint::operator=(ForkPoint&&) noexcept = default;
ForkPoint::~ForkPoint() = default;

Result<ForkPoint> Isolate::fork(std::uint64_t child) {
  return thread_.call([&] { return fork_here(child); });
}

Result<ForkPoint> Isolate::fork_here(std::uint64_t child) {
  if (control_->state() != RunState::stopped || !wasi_.wants_fork())
    return fail(Kind::invalid, "only an isolate that is parked because it asks for it can be forked");
  GW_TRY(ForkPoint point, fork_point());
  WasiState& state = point.content_->core.wasi;
  state = state_of_child(std::move(state), child);
  wasi_.answer_fork(child);
  return point;
}

Result<ForkPoint> Isolate::freeze() {
  return thread_.call([this] { return freeze_here(); });
}

Result<ForkPoint> Isolate::freeze_here() {
  GW_ASSERT(phase_ == wire::Phase::fresh);
  snapshot_.reset();  // so that a new one is taken, with nothing left to copy
  auto point = fork_point();
  wasi_.follow_changes();
  return point;
}

Result<ForkPoint> Isolate::fork_point() {
  auto memory = instance_->memory();
  if (history_) GW_TRY_VOID(history_->note_writes(memory));
  Ranges written;
  if (snapshot_) written = written_since_snapshot(engine_.memory_watch(), memory);
  if (!snapshot_ || is_stale(*snapshot_, written)) {
    GW_TRY_VOID(take_snapshot(memory));
    written.clear();
  }
  GW_TRY(Core state, core());
  auto content = std::make_unique<ForkPoint::Content>(module_, limits_, std::move(state), snapshot_);
  for (const auto& range : written)
    content->changes.push_back({static_cast<std::size_t>(range.data() - memory.data()), Bytes(range.begin(), range.end())});
  if (history_) content->history = history_->fork();
  return ForkPoint(std::move(content));
}

bool Isolate::put_back(const ForkPoint& point) {
  return thread_.call([&] { return put_back_here(point); });
}

bool Isolate::put_back_here(const ForkPoint& point) {
  const ForkPoint::Content& content = *point.content_;
  GW_ASSERT(content.changes.empty());
  const bool returned = !last_stop_ || std::holds_alternative<Exited>(*last_stop_);
  auto memory = instance_->memory();
  if (!returned || !module_->restartable() || history_ || snapshot_ != content.snapshot || memory.size() != snapshot_->bytes())
    return false;
  if (!control_->renew()) return false;
  if (!snapshot_->put_back(memory, written_since_snapshot(engine_.memory_watch(), memory))) return false;
  for (std::size_t i = 0; i < content.core.globals.size(); i++)
    if (!instance_->set_global(fmt::format("godwit.g{}", i), content.core.globals[i])) return false;
  wasi_.put_back(content.core.wasi);
  phase_ = wire::Phase::fresh;
  last_stop_.reset();
  return true;
}

Status Isolate::set_start(GuestStart start) {
  GW_TRY_VOID(check(start));
  GW_ASSERT(!last_stop_);
  return thread_.call([&] { return wasi_.set_start(std::move(start)); });
}

Status Isolate::take_snapshot(std::span<std::uint8_t> memory) {
  GW_TRY(auto snapshot, MemorySnapshot::make(memory.size()));
  if (Status taken = snapshot->take_over(engine_.memory_watch(), memory, snapshot_.get()); !taken) {
    control_->terminate();  // its memory is gone
    return taken;
  }
  snapshot_ = std::move(snapshot);
  return follow_writes_anew(memory);
}

// The kernel forgets that it follows writes when memory is mapped anew.
Status Isolate::follow_writes_anew(std::span<std::uint8_t> memory) {
  if (!history_) return ok();
  snapshot_->populate(memory);
  return history_->follow(engine_.memory_watch(), memory);
}

Result<wire::Image> Isolate::save_child(std::uint64_t child, SaveOptions options) {
  return thread_.call([&]() -> Result<wire::Image> {
    if (!wasi_.wants_fork()) return fail(Kind::invalid, "only an isolate that is parked because it asks for it has a child");
    return save_here(options, state_of_child(wasi_.saved_state(), child));
  });
}

void Isolate::answer_fork(std::uint64_t child) {
  thread_.call([this, child] { wasi_.answer_fork(child); });
}

void Isolate::refuse_fork() {
  thread_.call([this] { wasi_.refuse_fork(); });
}

Result<std::unique_ptr<Isolate>> Isolate::make(Engine& engine, PoolThread& thread, const ForkPoint& point, IsolateHost host) {
  const ForkPoint::Content& content = *point.content_;
  auto fill = [&](WasmInstance& instance) -> Status {
    auto memory = instance.memory();
    GW_TRY_VOID(content.snapshot->map_over(memory));
    for (const Change& change : content.changes) std::memcpy(memory.data() + change.offset, change.bytes.data(), change.bytes.size());
    return ok();
  };
  GW_TRY(auto child, make_from(engine, thread, content.module, content.limits, host, content.core, fill));
  child->snapshot_ = content.snapshot;
  if (content.history) child->history_ = content.history->fork();
  GW_TRY_VOID(child->follow_writes_anew(child->instance_->memory()));
  if (content.core.phase == wire::Phase::fresh) child->wasi_.follow_changes();  // a frozen one: it is put back
  return child;
}

}  // namespace gw::isolate
