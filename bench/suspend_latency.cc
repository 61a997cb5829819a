#include "suspend_latency.h"

#include <chrono>
#include <latch>
#include <thread>

#include "base/rng.h"
#include "os/clock.h"
#include "statistics.h"

namespace gw::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kSamples = 40;                    // of each kernel
constexpr std::uint64_t kLongestRunUs = 30000;  // until the request comes
constexpr auto kPatience = 2000ms;              // longer than the usual, so that a late guest is measured and not paused

// Runs a kernel repeatedly and suspends it at random times.
class Sampler {
 public:
  Sampler(GuestRunner& runner, std::shared_ptr<const isolate::Module> module) : runner_(runner), module_(std::move(module)) {}

  // Milliseconds from the request to the end of the unwinding; nothing if the guest came to its end before the request.
  Result<std::optional<double>> sample(std::chrono::microseconds run_time) {
    if (guest_ == nullptr) {
      GW_TRY(guest_, isolate::Isolate::make(runner_.engine(), runner_.thread(), module_, {.args = {"kernel"}},
                                            {input_, output_, output_, clock_, determinants_, chunks_}));
    }
    std::optional<isolate::Stop> stop;
    std::chrono::nanoseconds stopped{};
    std::latch done(1);
    GW_TRY_VOID(runner_.thread().post([&] {
      stop = guest_->resume();
      stopped = os::monotonic_now();
      done.count_down();
    }));
    std::this_thread::sleep_for(run_time);
    const auto asked = os::monotonic_now();
    guest_->suspend(kPatience);
    if (guest_->wait_while_running(kPatience * 2) == isolate::RunState::paused) guest_->terminate();
    done.wait();
    if (std::holds_alternative<isolate::Terminated>(*stop)) {
      return fail(Kind::timeout, "reached no poll within {} ms", kPatience.count());
    }
    if (isolate::can_resume(*stop)) return std::chrono::duration<double, std::milli>(stopped - asked).count();
    guest_.reset();
    return std::nullopt;
  }

 private:
  GuestRunner& runner_;
  std::shared_ptr<const isolate::Module> module_;
  isolate::EmptyInput input_;
  isolate::MemorySink output_;
  isolate::SystemClock clock_;
  isolate::LiveDeterminants determinants_;
  isolate::NoChunks chunks_;
  std::unique_ptr<isolate::Isolate> guest_;
};

}  // namespace

Result<SuspendLatency> SuspendLatency::build(const SuiteOptions& options) {
  SuspendLatency latency;
  for (const Half half : options.halves) {
    GW_TRY(const std::vector<Kernel> kernels, find_kernels(half));
    for (const Kernel& kernel : kernels) {
      GW_TRY(Bytes fine, build_module(kernel.source, wire::Level::fine));
      latency.subjects_.push_back({kernel, std::move(fine)});
    }
  }
  return latency;
}

Status SuspendLatency::measure(GuestRunner& runner, Report& report) const {
  Rng rng(1);
  std::vector<double> all;
  Report kernels;
  for (const Subject& subject : subjects_) {
    GW_TRY(auto module, runner.load(subject.fine));
    Sampler sampler(runner, std::move(module));
    std::vector<double> own;
    while (own.size() < kSamples) {
      auto time = sampler.sample(std::chrono::microseconds(rng.below(kLongestRunUs)));
      if (!time) return fail(time.error().kind, "{} {}", subject.kernel.name, time.error().detail);
      if (*time) own.push_back(**time);
    }
    all.insert(all.end(), own.begin(), own.end());
    kernels.add(name(subject.kernel.half) + "." + subject.kernel.name + ".suspend_ms_max", largest(own), "ms", "of 40 suspensions");
  }
  report.add("suspend_ms_p50", percentile(all, 0.5), "ms", "request to unwound, all kernels; goal: <= 1");
  report.add("suspend_ms_p99", percentile(all, 0.99), "ms", "goal: <= 20");
  report.add("suspend_ms_max", largest(all), "ms", "");
  report.metrics.insert(report.metrics.end(), kernels.metrics.begin(), kernels.metrics.end());
  return ok();
}

}  // namespace gw::bench
