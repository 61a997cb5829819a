#include "moved_speed.h"

#include <algorithm>
#include <chrono>
#include <latch>
#include <thread>

#include "statistics.h"

namespace gw::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kMoves = 5;
constexpr double kMovedShare = 0.1;  // of the run, in which all moves are
constexpr auto kSuspendPatience = 2000ms;

// CPU seconds of a run that is suspended and resumed kMoves times, each time after it has run for `between`.
Result<double> run_moved(GuestRunner& runner, const std::shared_ptr<const isolate::Module>& module, std::chrono::microseconds between) {
  isolate::EmptyInput input;
  isolate::MemorySink output;
  isolate::SystemClock clock;
  isolate::LiveDeterminants determinants;
  isolate::NoChunks chunks;
  GW_TRY(auto guest, isolate::Isolate::make(runner.engine(), runner.thread(), module, {.args = {"kernel"}},
                                            {input, output, output, clock, determinants, chunks}));
  std::optional<isolate::Stop> stop;
  for (int move = 0; move < kMoves && (!stop || isolate::can_resume(*stop)); ++move) {
    std::latch done(1);
    GW_TRY_VOID(runner.thread().post([&] {
      stop = guest->resume();
      done.count_down();
    }));
    std::this_thread::sleep_for(between);
    guest->suspend(kSuspendPatience);
    if (guest->wait_while_running(kSuspendPatience * 2) == isolate::RunState::paused) guest->terminate();
    done.wait();
  }
  while (isolate::can_resume(*stop)) stop = guest->resume();
  const auto* exited = std::get_if<isolate::Exited>(&*stop);
  if (exited == nullptr || exited->code != 0) return fail(Kind::guest_fault, "{}: {}", isolate::describe(*stop), output.text());
  return std::chrono::duration<double>(guest->cpu_time()).count();
}

}  // namespace

Result<MovedSpeed> MovedSpeed::build(const SuiteOptions& options) {
  MovedSpeed moved;
  moved.runs_ = options.runs;
  GW_TRY(Bytes interpreter, build_module(guest_source("probes/interpreter.c"), wire::Level::fine));
  moved.subjects_.push_back({"interpreter", std::move(interpreter)});
  for (const Half half : options.halves) {
    GW_TRY(const std::vector<Kernel> kernels, find_kernels(half));
    for (const Kernel& kernel : kernels) {
      GW_TRY(Bytes fine, build_module(kernel.source, wire::Level::fine));
      moved.subjects_.push_back({name(half) + "." + kernel.name, std::move(fine)});
    }
  }
  return moved;
}

Status MovedSpeed::measure(GuestRunner& runner, Report& report) const {
  std::vector<double> ratios;
  Report kernels;
  for (const Subject& subject : subjects_) {
    GW_TRY(auto module, runner.load(subject.fine));
    std::vector<double> undisturbed, moved;
    for (unsigned run = 0; run < runs_; ++run) {
      GW_TRY(const RunCost alone, runner.run(module, {"kernel"}));
      undisturbed.push_back(alone.cpu_seconds);
      const std::chrono::duration<double> between(smallest(undisturbed) * kMovedShare / kMoves);
      auto seconds = run_moved(runner, module, std::chrono::duration_cast<std::chrono::microseconds>(between));
      if (!seconds) return fail(seconds.error().kind, "{} {}", subject.name, seconds.error().detail);
      moved.push_back(*seconds);
    }
    ratios.push_back(smallest(moved) / smallest(undisturbed));
    kernels.add(subject.name + ".moved_ratio", ratios.back(), "ratio", "moved 5 times in the first tenth");
  }
  report.add("moved_geomean", geometric_mean(ratios), "ratio", "run time of kernels that were moved over that of kernels left alone");
  report.add("moved_max", largest(ratios), "ratio", "goal: <= 1.3");
  report.metrics.insert(report.metrics.end(), kernels.metrics.begin(), kernels.metrics.end());
  return ok();
}

}  // namespace gw::bench
