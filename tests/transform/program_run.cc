#include "transform/program_run.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/rng.h"

namespace gw::transform {

Result<isolate::InputSource::Read> HesitantInput::read(std::span<std::uint8_t> buffer) {
  if (!ready_) {
    ready_ = true;
    return Read{State::not_yet, 0};
  }
  ready_ = false;
  for (std::uint8_t& byte : buffer) byte = static_cast<std::uint8_t>(Rng(position_++).next());
  return Read{State::data, buffer.size()};
}

Stage::Stage() {
  auto engine = isolate::Engine::make();
  GW_ASSERT(engine.has_value());
  engine_ = *std::move(engine);
  auto thread = engine_->make_thread();
  GW_ASSERT(thread.has_value());
  thread_ = *std::move(thread);
}

Result<std::unique_ptr<ProgramRun>> ProgramRun::start(Stage& stage, std::shared_ptr<const isolate::Module> module) {
  std::unique_ptr<ProgramRun> run(new ProgramRun(stage));
  run->module_ = std::move(module);
  GW_TRY(run->isolate_, isolate::Isolate::make(stage.engine(), stage.thread(), run->module_, {.args = {"program"}}, run->host()));
  return run;
}

const isolate::Stop& ProgramRun::resume(std::optional<std::uint32_t> polls) {
  GW_ASSERT(can_go_on());
  stop_ = isolate_->resume({.polls = polls});
  return stop_;
}

Status ProgramRun::move() {
  GW_TRY(auto saved, isolate_->save());
  GW_TRY(auto image, wire::Image::decode(Bytes(saved.encoded().begin(), saved.encoded().end())));
  GW_TRY(isolate_, isolate::Isolate::restore(stage_.engine(), stage_.thread(), module_, {image}, isolate::Limits{}, host()));
  return ok();
}

std::string ProgramRun::outcome() const { return fmt::format("{}{}\n", output_.text(), isolate::describe(stop_)); }

}  // namespace gw::transform
