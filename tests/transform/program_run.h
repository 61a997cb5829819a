#pragma once
// A program that moves through the isolates of this process.

#include <memory>
#include <optional>
#include <string>

#include "isolate/engine/engine.h"
#include "isolate/isolate.h"

namespace gw::transform {

// Endless input that depends only on how much was read, and that is not there at the first try: a read parks once.
class HesitantInput final : public isolate::InputSource {
 public:
  Result<Read> read(std::span<std::uint8_t> buffer) override;
  void wait(std::chrono::milliseconds) override { ready_ = true; }

 private:
  std::uint64_t position_ = 0;
  bool ready_ = false;
};

// The engine and the thread all runs of a test share.
class Stage {
 public:
  Stage();
  isolate::Engine& engine() { return *engine_; }
  isolate::PoolThread& thread() { return *thread_; }

 private:
  std::unique_ptr<isolate::Engine> engine_;
  std::unique_ptr<isolate::PoolThread> thread_;
};

// A program from its start on. The caller of resume decides where it stops; it keeps its output and input over all moves.
class ProgramRun {
 public:
  static Result<std::unique_ptr<ProgramRun>> start(Stage& stage, std::shared_ptr<const isolate::Module> module);

  // polls: see isolate::ResumeOptions. REQUIRES: can_go_on().
  const isolate::Stop& resume(std::optional<std::uint32_t> polls = std::nullopt);
  // Continues in a new isolate, made from the bytes of an image of this one.
  Status move();
  Result<wire::Image> image() { return isolate_->save(); }

  bool can_go_on() const { return isolate::can_resume(stop_); }
  bool is_parked() const { return std::holds_alternative<isolate::Parked>(stop_); }
  std::string_view output() const { return output_.text(); }
  std::string_view errors() const { return errors_.text(); }
  const isolate::Stop& stop() const { return stop_; }
  // Everything printed, and how it ended.
  std::string outcome() const;

 private:
  explicit ProgramRun(Stage& stage) : stage_(stage) {}
  isolate::IsolateHost host() { return {input_, output_, errors_, clock_, determinants_, chunks_}; }

  Stage& stage_;
  HesitantInput input_;
  isolate::MemorySink output_, errors_;
  isolate::SystemClock clock_;
  isolate::LiveDeterminants determinants_;
  isolate::NoChunks chunks_;
  std::shared_ptr<const isolate::Module> module_;
  std::unique_ptr<isolate::Isolate> isolate_;
  isolate::Stop stop_ = isolate::Suspended{};
};

}  // namespace gw::transform
