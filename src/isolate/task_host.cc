#include "isolate/task_host.h"

#include <algorithm>
#include <array>

namespace gw::isolate {
namespace {

constexpr const char* kInit = "godwit_task_init";
constexpr const char* kRun = "godwit_task_run";

Status check_exports(const Module& module) {
  GW_TRY(auto exports, wire::read_exports(module.wasm()));
  for (std::string_view name : {kInit, kRun}) {
    auto is_it = [&](const wire::Export& item) { return item.name == name && item.kind == wire::ExternKind::function; };
    if (std::ranges::none_of(exports, is_it))
      return fail(Kind::invalid, "the program cannot carry out tasks, it does not export '{}': include <godwit/task.h> in it", name);
  }
  return ok();
}

}  // namespace

TaskHost::TaskHost(Engine& engine, PoolThread& thread, IsolateHost host) : engine_(engine), thread_(thread), outer_(host) {}

TaskHost::~TaskHost() = default;

Result<std::unique_ptr<TaskHost>> TaskHost::make(Engine& engine, PoolThread& thread, std::shared_ptr<const Module> module,
                                                 IsolateConfig config, IsolateHost host) {
  GW_TRY_VOID(check_exports(*module));
  auto tasks = std::unique_ptr<TaskHost>(new TaskHost(engine, thread, host));
  IsolateHost inner{host.input, host.output, host.errors, host.clock, host.determinants, host.chunks, *tasks};
  GW_TRY(tasks->isolate_, Isolate::make(engine, thread, std::move(module), std::move(config), inner));
  GW_TRY(tasks->image_, thread.call([&]() -> Result<ForkPoint> {
    if (auto stop = tasks->isolate_->call_export(kInit))
      return fail(Kind::guest_fault, "the constructors of the program {}", describe(*stop));
    return tasks->isolate_->freeze();
  }));
  return tasks;
}

Result<Bytes> TaskHost::call(std::uint32_t function, ByteView argument) {
  return thread_.call([&] { return call_here(function, argument); });
}

Result<Bytes> TaskHost::call_here(std::uint32_t function, ByteView argument) {
  if (argument.size() > kMaxTaskBytes)
    return fail(Kind::invalid, "the argument of a task has {} bytes, at most {} are possible", argument.size(), kMaxTaskBytes);
  if (!isolate_) GW_TRY_VOID(renew());
  task_ = Task{function, argument};
  result_.clear();
  std::optional<Stop> stop = isolate_->call_export(kRun);
  task_.reset();
  if (!isolate_->put_back(*image_)) {
    std::lock_guard lock(mutex_);
    isolate_.reset();
  }
  if (stop) return fail(Kind::guest_fault, "the task {}", describe(*stop));
  return std::move(result_);
}

Status TaskHost::renew() {
  IsolateHost inner{outer_.input, outer_.output, outer_.errors, outer_.clock, outer_.determinants, outer_.chunks, *this};
  GW_TRY(auto fresh, Isolate::make(engine_, thread_, *image_, inner));
  std::lock_guard lock(mutex_);
  isolate_ = std::move(fresh);
  return ok();
}

void TaskHost::end_call() {
  std::lock_guard lock(mutex_);
  if (isolate_) isolate_->terminate();
}

Status TaskHost::task_result(ByteView bytes) {
  result_.assign(bytes.begin(), bytes.end());
  return ok();
}

}  // namespace gw::isolate
