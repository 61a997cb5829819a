#include "isolate/isolate.h"

#include "isolate/backtrace.h"
#include "isolate/engine/watchdog.h"
#include "isolate/files/file_tree_builder.h"
#include "isolate/memory/memory_history.h"
#include "os/clock.h"

namespace gw::isolate {
namespace {

constexpr std::chrono::milliseconds kInputSlice{50};  // how long a guest that cannot park may be deaf while it waits for input
constexpr std::uint32_t kEndlessPolls = INT32_MAX;

wire::GlobalValue i32_value(std::uint32_t value) {
  wire::GlobalValue out;
  std::memcpy(out.bytes.data(), &value, sizeof value);
  return out;
}

std::uint32_t i32_of(const wire::GlobalValue& value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, value.bytes.data(), sizeof bits);
  return bits;
}

}  // namespace

Isolate::Isolate(Engine& engine, PoolThread& thread, std::shared_ptr<const Module> module, Limits limits, IsolateHost host,
                 const Core& core)
    : engine_(engine),
      thread_(thread),
      module_(std::move(module)),
      limits_(limits),
      phase_(core.phase),
      host_(host),
      clock_(host.clock, host.determinants),
      wasi_(core.wasi, {host.input, host.output, host.errors, clock_, host.determinants, host.chunks, host.thread}, limits) {}

Isolate::~Isolate() {
  GW_ASSERT(!control_ || control_->state() == RunState::stopped || control_->state() == RunState::ended);
  thread_.call([this] {
    history_.reset();
    control_.reset();
    instance_.reset();
  });
}

Result<std::unique_ptr<Isolate>> Isolate::make(Engine& engine, PoolThread& thread, std::shared_ptr<const Module> module,
                                               IsolateConfig config, IsolateHost host) {
  Core core;
  core.wasi.args = std::move(config.args);
  core.wasi.env = std::move(config.env);
  core.wasi.input = std::move(config.stdin_bytes);
  core.wasi.random = GuestRandom(config.random_seed, 0);
  FileTreeBuilder files;
  GW_TRY_VOID(files.add_inputs(config.inputs));
  GW_TRY_VOID(files.add_outputs(config.outputs));
  core.wasi.files = files.take();
  core.wasi.descriptors = DescriptorTable::standard(core.wasi.files);
  if (config.standard_input) {
    FileTreeBuilder with_input(std::move(core.wasi.files));
    GW_TRY_VOID(with_input.add_standard_input(*config.standard_input, core.wasi.descriptors));
    core.wasi.files = with_input.take();
  }
  core.wasi.outputs = std::move(config.outputs);
  GW_TRY_VOID(check(core.wasi));
  return make_from(engine, thread, std::move(module), config.limits, host, core, [](WasmInstance&) { return ok(); });
}

Result<std::unique_ptr<Isolate>> Isolate::make_from(Engine& engine, PoolThread& thread, std::shared_ptr<const Module> module, Limits limits,
                                                    IsolateHost host, const Core& core, const FillMemory& fill) {
  return thread.call([&]() -> Result<std::unique_ptr<Isolate>> {
    auto isolate = std::unique_ptr<Isolate>(new Isolate(engine, thread, std::move(module), limits, host, core));
    GW_TRY_VOID(isolate->check_core(core));
    GW_TRY_VOID(isolate->instantiate(core, fill));
    return isolate;
  });
}

// Checks fields of an image that the module may not have.
Status Isolate::check_core(const Core& core) const {
  const wire::ModuleInfo& info = module_->info();
  std::uint64_t pages = std::max<std::uint64_t>(core.memory_pages, module_->memory().min_pages);
  if (pages * wire::kPageBytes > memory_limit_bytes(limits_, info))
    return fail(Kind::overloaded, "the isolate needs {} pages of memory, its limit is {}", pages, limits_.memory_pages);
  if (core.wasi.files.pages() > limits_.file_bytes / wire::kPageBytes)
    return fail(Kind::overloaded, "the files of the isolate have {} pages, its limit is {} bytes", core.wasi.files.pages(),
                limits_.file_bytes);
  if (core.phase == wire::Phase::fresh) return ok();
  if (!module_->mobile()) return fail(Kind::invalid, "the image is of a suspended program, but the module cannot be suspended");
  if (core.memory_pages < module_->memory().min_pages) return fail(Kind::invalid, "the image has less memory than the module starts with");
  auto same_type = [](const wire::GlobalValue& value, wire::ValueType type) { return value.type == type; };
  if (!std::ranges::equal(core.globals, info.globals, same_type))
    return fail(Kind::invalid, "the globals of the image are not those of the module");
  return ok();
}

Status Isolate::instantiate(const Core& core, const FillMemory& fill) {
  GW_TRY(instance_, WasmInstance::make(thread_.heap(), *module_->code_, *this));
  std::uint32_t pages = memory_pages();
  if (core.memory_pages > pages) GW_TRY_VOID(instance_->grow_memory(core.memory_pages - pages));
  GW_TRY_VOID(fill(*instance_));
  for (std::size_t i = 0; i < core.globals.size(); i++) GW_TRY_VOID(instance_->set_global(fmt::format("godwit.g{}", i), core.globals[i]));
  control_ = std::make_unique<RunControl>(
      RunControl::Target{.heap = thread_.heap(), .instance = *instance_, .info = module_->info(), .cpu_clock = thread_.cpu_clock()},
      limits_);
  return ok();
}

std::uint32_t Isolate::memory_pages() const { return static_cast<std::uint32_t>(instance_->memory_bytes() / wire::kPageBytes); }

// --- running ---

Stop Isolate::resume(ResumeOptions options) {
  return thread_.call([&] { return run(options); });
}

Stop Isolate::run(const ResumeOptions& options) {
  switch (control_->begin_run()) {
    case RunControl::Begin::ended:
      return last_stop_ && !can_resume(*last_stop_) ? *last_stop_ : end_stop();
    case RunControl::Begin::suspended:
      return Suspended{};
    case RunControl::Begin::go:
      break;
  }
  engine_.watchdog().watch(*control_);
  Stop stop = Terminated{};
  if (Status prepared = prepare(options)) {
    stop = stop_of(instance_->call(entry_));
  } else {
    stop = Trapped{TrapKind::host_failure, "", prepared.error().detail, ""};
  }
  engine_.watchdog().forget(*control_);
  bool stays = can_resume(stop) || returned_from_export(stop);
  RunState state = control_->end_run(stays ? RunState::stopped : RunState::ended);
  if (state == RunState::ended && stays) stop = end_stop();
  last_stop_ = stop;
  return stop;
}

bool Isolate::returned_from_export(const Stop& stop) const { return entry_ != kStart && std::holds_alternative<Exited>(stop) && !ended_; }

std::optional<Stop> Isolate::call_export(const char* name) {
  GW_ASSERT(thread_.is_current() && phase_ == wire::Phase::fresh);
  entry_ = name;
  (void)control_->renew();  // an isolate that was ended from outside says so when it runs
  Stop stop = run({});
  while (can_resume(stop)) stop = run({});  // ignore suspend requests: this call cannot continue elsewhere
  bool returned = control_->state() == RunState::stopped;
  entry_ = kStart;
  phase_ = wire::Phase::fresh;
  if (returned) return std::nullopt;
  return stop;
}

Status Isolate::prepare(const ResumeOptions& options) {
  unwinding_for_.reset();
  ended_.reset();
  if (!module_->mobile()) return ok();
  if (module_->info().poll == wire::Poll::counter) GW_TRY_VOID(set_i32("godwit.counter", options.polls.value_or(kEndlessPolls)));
  return set_i32("godwit.rewinding", phase_ == wire::Phase::suspended ? 1 : 0);
}

Status Isolate::set_i32(std::string_view name, std::uint32_t value) { return instance_->set_global(name, i32_value(value)); }

Stop Isolate::stop_of(const CallOutcome& outcome) {
  if (std::holds_alternative<Terminated>(outcome)) return end_stop();
  if (ended_) return *ended_;
  if (std::holds_alternative<Returned>(outcome)) return stop_after_return();
  const TrapReport& trap = std::get<TrapReport>(outcome);
  const bool overflow = trap.kind == TrapKind::memory_out_of_bounds && stack_pointer_is_outside();
  Backtrace backtrace = backtrace_of(*module_, trap.frames);
  return Trapped{overflow ? TrapKind::memory_stack_overflow : trap.kind, std::move(backtrace.function), trap.message,
                 std::move(backtrace.lines)};
}

// Linkers put the stack first and its pointer into the first global: a stack that overflows makes it wrap around.
bool Isolate::stack_pointer_is_outside() const {
  const auto& globals = module_->info().globals;
  if (globals.empty() || globals.front() != wire::ValueType::i32) return false;
  const auto pointer = instance_->global("godwit.g0", wire::ValueType::i32);
  return pointer && i32_of(*pointer) > instance_->memory_bytes();
}

Stop Isolate::stop_after_return() {
  if (!module_->mobile()) return Exited{};
  auto unwinding = instance_->global("godwit.unwinding", wire::ValueType::i32);
  if (!unwinding) return Trapped{TrapKind::host_failure, "", unwinding.error().detail, ""};
  if (*unwinding == i32_value(0)) return Exited{};
  if (Status cleared = set_i32("godwit.unwinding", 0); !cleared) return Trapped{TrapKind::host_failure, "", cleared.error().detail, ""};
  phase_ = wire::Phase::suspended;
  return unwinding_for_.value_or(Suspended{});
}

// The stop of an isolate that was ended from outside.
Stop Isolate::end_stop() const {
  auto reason = control_->end_reason();
  if (reason && std::holds_alternative<LimitKind>(*reason)) {
    LimitKind which = std::get<LimitKind>(*reason);
    return LimitReached{which, describe(which, limits_), limit_backtrace_};
  }
  return Terminated{};
}

// --- host calls ---

CallResult Isolate::on_import(const HostImport& import, GuestMemory memory, const std::uint64_t* args) {
  if (memory.size() > memory_limit_bytes(limits_, module_->info())) return end(LimitReached{LimitKind::memory, "", ""});
  bool can_unwind = module_->mobile() && import.blocking == wire::Blocking::maybe && entry_ == kStart;
  // The call has not begun, so it can as well happen after the move. This is where coarse programs are suspended.
  if (can_unwind && control_->suspend_requested()) return unwind(Suspended{});
  for (;;) {
    CallResult result = import.call(wasi_, memory, args);
    if (const auto mark = wasi_.take_throw_mark()) note_throw(*mark);
    if (result.after == After::proceed) return result;
    if (result.after == After::end) return end(wasi_.ending());
    if (can_unwind) return unwind(Parked{wasi_.waiting()});
    if (!wait_in_place(wasi_.waiting())) return end(end_stop());
  }
}

void Isolate::note_throw(ThrowMark mark) {
  uncaught_ = mark == ThrowMark::uncaught && !throw_frames_.empty();
  if (mark == ThrowMark::thrown) throw_frames_ = instance_->frames();
}

CallResult Isolate::unwind(Stop reason) {
  unwinding_for_ = std::move(reason);
  CallOutcome outcome = instance_->call("godwit.begin_unwind");
  if (std::holds_alternative<Returned>(outcome)) return Errno::success;
  return end(stop_of(outcome));
}

CallResult Isolate::end(Stop stop) {
  if (auto* limit = std::get_if<LimitReached>(&stop)) {
    limit->sentence = describe(limit->which, limits_);
    limit->backtrace = backtrace_of(*module_, instance_->frames()).lines;
  }
  if (auto* exited = std::get_if<Exited>(&stop); exited != nullptr && !fatal_signal(exited->code).empty())
    exited->backtrace = uncaught_ ? backtrace_of(*module_, throw_frames_, InnerFrames::throw_).lines
                                  : backtrace_of(*module_, instance_->frames(), InnerFrames::abort).lines;
  ended_ = std::move(stop);
  return After::end;
}

// False: the isolate is to end.
bool Isolate::wait_in_place(const Wait& wait) {
  if (std::holds_alternative<AtCheckpoint>(wait)) return true;
  if (std::holds_alternative<ForkRequested>(wait)) {  // it cannot be unwound, so there is nothing a child could go on from
    wasi_.refuse_fork();
    return true;
  }
  auto now = os::monotonic_now();
  if (std::holds_alternative<AwaitChunk>(wait)) {
    host_.chunks.wait(kInputSlice);
    return control_->wait_in_place(now);
  }
  if (const auto* room = std::get_if<AwaitRoom>(&wait)) {
    host_.thread.wait_for_room(room->outlet, kInputSlice);
    return control_->wait_in_place(now);
  }
  if (const auto* mail = std::get_if<AwaitMail>(&wait)) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(mail->deadline.value_or(now + kInputSlice) - now);
    host_.thread.wait_for_mail(std::clamp<std::chrono::milliseconds>(left, std::chrono::milliseconds(0), kInputSlice));
    return control_->wait_in_place(now);
  }
  const auto* sleep = std::get_if<SleepUntil>(&wait);
  if (sleep != nullptr && !sleep->input_too) return control_->wait_in_place(sleep->deadline);
  host_.input.wait(sleep == nullptr ? kInputSlice
                                    : std::min(kInputSlice, std::chrono::ceil<std::chrono::milliseconds>(sleep->deadline - now)));
  return control_->wait_in_place(now);
}

void Isolate::on_interrupt() {
  if (control_->take_trace_request()) limit_backtrace_ = backtrace_of(*module_, instance_->frames()).lines;
  if (control_->take_counter_request()) {
    if (Status set = set_i32("godwit.counter", 0); !set) ended_ = Trapped{TrapKind::host_failure, "", set.error().detail, ""};
  }
  control_->hold_while_paused();
}

}  // namespace gw::isolate
