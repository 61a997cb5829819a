#include "image_speed.h"

#include <fmt/format.h>

#include <chrono>

#include "kernels.h"
#include "os/clock.h"
#include "statistics.h"

namespace gw::bench {
namespace {

constexpr int kRepetitions = 7;

// Gives the guest one byte when told to, and lets it wait otherwise.
class SteppedInput final : public isolate::InputSource {
 public:
  void step() { pending_ = true; }

  Result<Read> read(std::span<std::uint8_t> buffer) override {
    if (!std::exchange(pending_, false)) return Read{State::not_yet, 0};
    buffer[0] = 's';
    return Read{State::data, 1};
  }
  void wait(std::chrono::milliseconds) override {}

 private:
  bool pending_ = false;
};

// The memory probe, stopped where it waits for input.
class MemoryGuest {
 public:
  static Result<std::unique_ptr<MemoryGuest>> start(GuestRunner& runner, std::shared_ptr<const isolate::Module> module, int mib) {
    auto guest = std::unique_ptr<MemoryGuest>(new MemoryGuest(runner, std::move(module)));
    GW_TRY(guest->isolate_, isolate::Isolate::make(runner.engine(), runner.thread(), guest->module_,
                                                   {.args = {"memory", std::to_string(mib)}}, guest->host()));
    GW_TRY_VOID(guest->run_to_input());
    return guest;
  }

  Result<double> save_ms(isolate::SaveOptions options) {
    const auto start = os::monotonic_now();
    GW_TRY(image_, isolate_->save(options));
    return since(start);
  }

  // Restores the last full image.
  Result<double> restore_ms() {
    const auto start = os::monotonic_now();
    GW_TRY(auto copy, isolate::Isolate::restore(runner_.engine(), runner_.thread(), module_, {*image_}, isolate::Limits{}, host()));
    return since(start);
  }

  // Lets it change the next hundredth of its memory.
  Status step() {
    input_.step();
    return run_to_input();
  }

 private:
  MemoryGuest(GuestRunner& runner, std::shared_ptr<const isolate::Module> module) : runner_(runner), module_(std::move(module)) {}

  isolate::IsolateHost host() { return {input_, output_, output_, clock_, determinants_, chunks_}; }

  static double since(std::chrono::nanoseconds start) {
    return std::chrono::duration<double, std::milli>(os::monotonic_now() - start).count();
  }

  Status run_to_input() {
    const isolate::Stop stop = isolate_->resume();
    const auto* parked = std::get_if<isolate::Parked>(&stop);
    if (parked != nullptr && std::holds_alternative<isolate::AwaitInput>(parked->on)) return ok();
    return fail(Kind::internal, "the memory probe should wait for input, but {}", isolate::describe(stop));
  }

  GuestRunner& runner_;
  std::shared_ptr<const isolate::Module> module_;
  SteppedInput input_;
  isolate::MemorySink output_;
  isolate::SystemClock clock_;
  isolate::LiveDeterminants determinants_;
  isolate::NoChunks chunks_;
  std::unique_ptr<isolate::Isolate> isolate_;
  std::optional<wire::Image> image_;
};

struct Goals {
  std::string save, restore, dirty;
};

Status measure_size(GuestRunner& runner, std::shared_ptr<const isolate::Module> module, int mib, const Goals& goals, Report& report) {
  GW_TRY(auto guest, MemoryGuest::start(runner, std::move(module), mib));
  std::vector<double> saves, restores, dirty_saves;
  for (int i = 0; i < kRepetitions; i++) {
    GW_TRY(const double save, guest->save_ms({}));
    GW_TRY(const double restore, guest->restore_ms());
    saves.push_back(save);
    restores.push_back(restore);
  }
  GW_TRY_VOID(guest->save_ms({.track = isolate::SaveOptions::Track::yes}));
  for (int i = 0; i < kRepetitions; i++) {
    GW_TRY_VOID(guest->step());
    GW_TRY(const double dirty, guest->save_ms({.pages = isolate::SaveOptions::Pages::changed, .track = isolate::SaveOptions::Track::yes}));
    dirty_saves.push_back(dirty);
  }
  report.add(fmt::format("save_{}mib_ms", mib), percentile(saves, 0.5), "ms", goals.save);
  report.add(fmt::format("restore_{}mib_ms", mib), percentile(restores, 0.5), "ms", goals.restore);
  report.add(mib == 16 ? "save_1pct_dirty_ms" : fmt::format("save_1pct_dirty_{}mib_ms", mib), percentile(dirty_saves, 0.5), "ms",
             goals.dirty);
  return ok();
}

}  // namespace

Result<ImageSpeed> ImageSpeed::build() {
  ImageSpeed speed;
  GW_TRY(speed.memory_probe_, build_module(guest_source("probes/memory.c"), wire::Level::fine));
  return speed;
}

Status ImageSpeed::measure(GuestRunner& runner, Report& report) const {
  GW_TRY(auto module, runner.load(memory_probe_));
  GW_TRY_VOID(
      measure_size(runner, module, 16, {"median; goal: <= 25", "median; goal: <= 12", "1 % of 16 MiB, median; goal: <= 2"}, report));
  return measure_size(runner, module, 256, {"median", "median", "1 % of 256 MiB, median"}, report);
}

}  // namespace gw::bench
