#include "cli/session.h"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "cli/code_compiler.h"
#include "cli/exit_codes.h"
#include "cli/quantity.h"
#include "os/clock.h"
#include "os/file.h"

namespace gw::cli {
namespace {

constexpr std::chrono::milliseconds kInputWait{100};

}  // namespace

Status Session::load(Bytes wasm, isolate::CodeKind kind) {
  GW_TRY(auto cache, os::cache_dir());
  GW_TRY(auto native_code, node::NativeCode::open(native_code_config(cache)));
  auto code = native_code.find(wasm, kind);
  GW_TRY(engine_, isolate::Engine::make());
  GW_TRY(module_, engine_->load(std::move(wasm), code ? code->bytes() : ByteView{}));
  GW_TRY(thread_, engine_->make_thread());
  return ok();
}

Result<std::unique_ptr<Session>> Session::start(Bytes wasm, isolate::IsolateConfig config) {
  std::unique_ptr<Session> session(new Session);
  GW_TRY_VOID(session->load(std::move(wasm), isolate::CodeKind::start));
  GW_TRY(session->isolate_,
         isolate::Isolate::make(*session->engine_, *session->thread_, session->module_, std::move(config), session->host()));
  return session;
}

Result<std::unique_ptr<Session>> Session::resume(const wire::Image& image, isolate::Limits limits) {
  const ByteView module = image.content().module_wasm;
  if (module.empty()) return fail(Kind::invalid, "the image does not contain its program: save it with the module to resume it alone");
  std::unique_ptr<Session> session(new Session);
  GW_TRY_VOID(session->load(Bytes(module.begin(), module.end()), isolate::CodeKind::restore));
  GW_TRY(session->isolate_,
         isolate::Isolate::restore(*session->engine_, *session->thread_, session->module_, {image}, limits, session->host()));
  return session;
}

Status Session::check(const SuspendPlan& plan) const {
  if (!plan.wanted()) return ok();
  if (!module_->mobile())
    return fail(Kind::invalid, "the program was built with --mobile=off and cannot be suspended: build it with --mobile=fine");
  if (plan.after_polls && module_->info().poll != wire::Poll::counter)
    return fail(Kind::invalid, "--suspend-after-polls needs a program built with --poll=counter: this one does not count its polls");
  return ok();
}

void Session::suspend_at(Clock::time_point when, std::stop_token stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  if (never.wait_until(lock, stop, when, [] { return false; }) || stop.stop_requested()) return;
  while (!stop.stop_requested()) {
    isolate_->suspend();
    // A guest that reaches no poll is held by the watchdog: let it go on to the next one, there is nobody here who wants its core.
    if (isolate_->wait_while_running(std::chrono::seconds(1)) != isolate::RunState::paused) return;
    isolate_->unpause();
  }
}

bool Session::wait_for(const isolate::Wait& wait, std::optional<Clock::time_point> suspend_at) {
  const Clock::time_point now = Clock::now();
  if (suspend_at && now >= *suspend_at) return false;
  if (const auto* sleep = std::get_if<isolate::SleepUntil>(&wait)) {
    Clock::time_point wake = now + std::max(sleep->deadline - os::monotonic_now(), std::chrono::nanoseconds(0));
    if (suspend_at) wake = std::min(wake, *suspend_at);
    std::this_thread::sleep_until(wake);
  } else if (std::holds_alternative<isolate::ForkRequested>(wait)) {
    isolate_->refuse_fork();
  } else if (std::holds_alternative<isolate::AwaitInput>(wait)) {
    input_.wait(kInputWait);
  }
  return true;
}

Result<int> Session::run(const SuspendPlan& plan) {
  GW_TRY_VOID(check(plan));
  std::optional<Clock::time_point> deadline;
  std::jthread timer;
  if (plan.after) {
    deadline = Clock::now() + *plan.after;
    timer = std::jthread([this, when = *deadline](std::stop_token stop) { suspend_at(when, std::move(stop)); });
  }
  for (;;) {
    const isolate::Stop stop = isolate_->resume({.polls = plan.after_polls});
    if (std::holds_alternative<isolate::Suspended>(stop)) return save(plan);
    if (const auto* parked = std::get_if<isolate::Parked>(&stop)) {
      if (wait_for(parked->on, deadline)) continue;
      return save(plan);
    }
    if (const auto* exited = std::get_if<isolate::Exited>(&stop)) return static_cast<int>(exited->code);
    const bool limit = std::holds_alternative<isolate::LimitReached>(stop);
    return fail(limit ? Kind::overloaded : Kind::guest_fault, "the program {}", isolate::describe(stop));
  }
}

Result<int> Session::save(const SuspendPlan& plan) {
  GW_TRY(auto image, isolate_->save({.compression = plan.compression, .include_module = isolate::SaveOptions::IncludeModule::yes}));
  GW_TRY_VOID(os::write_file_atomic(plan.image, image.encoded()));
  fmt::print(stderr, "godwit: suspended to {} ({}); continue with: godwit resume {}\n", plan.image.string(),
             human_bytes(image.encoded().size()), plan.image.string());
  return static_cast<int>(ExitCode::suspended);
}

}  // namespace gw::cli
