#include "worker_driver.h"

#include <poll.h>

#include <algorithm>

#include "os/clock.h"
#include "toolchain/build.h"

namespace gw::test {
namespace {

using node::WorkerProcess;
using wire::pb::Effect;
using wire::pb::FromWorker;
using wire::pb::ToWorker;

constexpr std::chrono::minutes kPatience{5};
constexpr std::chrono::milliseconds kLookEvery{50};  // at what no descriptor tells of: the count of running guests

std::vector<os::UniqueFd> one(os::UniqueFd fd) {
  std::vector<os::UniqueFd> list;
  list.push_back(std::move(fd));
  return list;
}

}  // namespace

std::filesystem::path worker_program() { return GODWIT_WORKER; }

Bytes build_guest(const std::string& name, wire::Level level) {
  toolchain::BuildRequest request;
  request.mobility.level = level;
  request.inputs = {std::filesystem::path(GODWIT_TEST_GUESTS) / (name + ".c")};
  auto output = toolchain::build(request);
  GW_ASSERT(output.has_value());
  return std::move(output->wasm);
}

WorkerDriver::WorkerDriver(Options options) : options_(std::move(options)) {
  const std::string program = options_.program.empty() ? worker_program().string() : options_.program;
  worker = std::move(WorkerProcess::start({.program = program, .limits = options_.limits}).value());
}

void WorkerDriver::load(ByteView wasm) {
  ToWorker frame;
  frame.mutable_load()->set_pool_threads(options_.pool_threads);
  *frame.mutable_load()->mutable_limits() = options_.guest_limits;
  frame.mutable_load()->set_keep_images(options_.keep_images);
  frame.mutable_load()->set_determinants_after_image(options_.determinants_after_image);
  (void)worker->send(frame, one(os::SealedMemory::make("module", wasm)->share().value()));
}

void WorkerDriver::start(std::uint64_t thread, std::vector<std::string> args, std::vector<std::string> outputs) {
  wire::pb::ThreadConfig config;
  for (std::string& arg : args) config.add_args(std::move(arg));
  for (std::string& path : outputs) config.add_outputs(std::move(path));
  config.set_random_seed(std::string(32, 's'));
  ToWorker frame;
  frame.mutable_start()->set_thread(thread);
  (void)worker->send(frame, one(os::SealedMemory::make("config", as_bytes(config.SerializeAsString()))->share().value()));
}

void WorkerDriver::start_again(std::uint64_t thread, std::vector<std::string> args, const Before& before) {
  wire::pb::ThreadConfig config;
  for (std::string& arg : args) config.add_args(std::move(arg));
  config.set_random_seed(std::string(32, 's'));
  ToWorker frame;
  frame.mutable_start()->set_thread(thread);
  frame.mutable_start()->set_epoch(before.epoch);
  wire::write(before.stored, *frame.mutable_start()->mutable_stored());
  for (const wire::pb::Determinant& determinant : before.determinants) *frame.mutable_start()->add_determinants() = determinant;
  (void)worker->send(frame, one(os::SealedMemory::make("config", as_bytes(config.SerializeAsString()))->share().value()));
}

void WorkerDriver::start_tasks(std::uint64_t thread) {
  wire::pb::ThreadConfig config;
  config.set_random_seed(std::string(32, 's'));
  ToWorker frame;
  frame.mutable_start()->set_thread(thread);
  frame.mutable_start()->set_task_host(true);
  (void)worker->send(frame, one(os::SealedMemory::make("config", as_bytes(config.SerializeAsString()))->share().value()));
}

void WorkerDriver::restore(std::uint64_t thread, std::uint64_t epoch, const os::SealedMemory& image) {
  ToWorker frame;
  frame.mutable_restore()->set_thread(thread);
  frame.mutable_restore()->set_epoch(epoch);
  (void)worker->send(frame, one(image.share().value()));
}

void WorkerDriver::setup_tasks(std::uint32_t tasks, std::chrono::nanoseconds promote_after, wire::pb::ThreadConfig config) {
  if (config.random_seed().empty()) config.set_random_seed(std::string(32, 's'));
  ToWorker frame;
  frame.mutable_task_setup()->set_tasks(tasks);
  frame.mutable_task_setup()->set_promote_after_ns(static_cast<std::uint64_t>(promote_after.count()));
  (void)worker->send(frame, one(os::SealedMemory::make("config", as_bytes(config.SerializeAsString()))->share().value()));
}

void WorkerDriver::run_tasks(std::uint32_t first, std::uint32_t count) {
  ToWorker frame;
  frame.mutable_run_tasks()->set_lanes(1024);
  auto& range = *frame.mutable_run_tasks()->add_ranges();
  range.set_first(first);
  range.set_count(count);
  send(frame);
}

void WorkerDriver::drop_tasks(std::uint32_t first, std::uint32_t count) {
  ToWorker frame;
  auto& range = *frame.mutable_drop_tasks()->add_ranges();
  range.set_first(first);
  range.set_count(count);
  send(frame);
}

void WorkerDriver::adopt(std::uint64_t thread) {
  ToWorker frame;
  frame.mutable_adopt()->set_thread(thread);
  send(frame);
}

void WorkerDriver::ask(Ask what, std::uint64_t thread) {
  ToWorker frame;
  auto* request = what == Ask::suspend      ? frame.mutable_suspend()
                  : what == Ask::checkpoint ? frame.mutable_checkpoint()
                  : what == Ask::drop       ? frame.mutable_drop()
                                            : frame.mutable_terminate();
  request->set_thread(thread);
  send(frame);
}

void WorkerDriver::input(std::uint64_t thread, std::uint64_t piece, const std::string& bytes) {
  ToWorker frame;
  frame.mutable_input()->set_thread(thread);
  frame.mutable_input()->set_piece(piece);
  frame.mutable_input()->set_bytes(bytes);
  frame.mutable_input()->set_end(bytes.empty());
  send(frame);
}

bool WorkerDriver::run_until(const std::function<bool()>& done) {
  const auto give_up = os::monotonic_now() + kPatience;
  while (!done() && !worker->death()) {
    const auto now = os::monotonic_now();
    if (now > give_up) return false;
    std::vector<pollfd> watched;
    worker->add_watched(watched);
    ::poll(watched.data(), watched.size(), static_cast<int>(kLookEvery.count()));
    for (WorkerProcess::Received& received : worker->on_turn()) on_frame(std::move(received));
  }
  return done();
}

bool WorkerDriver::run_until_death() {
  return run_until([this] { return worker->death().has_value(); });
}

bool WorkerDriver::run_to_end(std::uint64_t thread) {
  return run_until([&] { return end_of(thread) != nullptr; });
}

void WorkerDriver::on_frame(WorkerProcess::Received received) {
  const FromWorker& frame = received.frame;
  ToWorker answer;
  for (const Effect& effect : frame.effects().effects()) {
    effects.push_back(effect);
    if (effect.has_spawn() && !has_image_of(effect)) early_spawns++;
    if (effect.has_spawn() && options_.acknowledge) {
      answer.mutable_children()->set_unfinished(++children_);
      send(answer);
    }
    const wire::Stream stream = wire::stream_of(effect);
    answer.mutable_stored()->set_thread(effect.thread());
    answer.mutable_stored()->clear_streams();
    wire::write(wire::StreamMarks{{stream, effect.sequence()}}, *answer.mutable_stored()->mutable_streams());
    if (options_.acknowledge && !options_.silent.contains(stream)) send(answer);
  }
  if (frame.has_determinants() && frame.determinants().determinants_size() > 0) {
    answer.mutable_determinants_stable()->set_thread(frame.determinants().thread());
    answer.mutable_determinants_stable()->set_count(frame.determinants().determinants().rbegin()->index() + 1);
    if (options_.acknowledge) send(answer);
  }
  results.insert(results.end(), frame.task_results().results().begin(), frame.task_results().results().end());
  result_frames += frame.has_task_results() ? 1 : 0;
  if (frame.has_promoted()) promoted.push_back(frame.promoted().task());
  loaded += frame.has_loaded() ? 1 : 0;
  failed += frame.has_failed() ? 1 : 0;
  stopped += frame.has_stopped() ? 1 : 0;
  wanted_inputs += frame.has_want_input() ? 1 : 0;
  if (frame.has_image()) {
    images.push_back(std::move(received));
  } else if (!frame.has_effects() && !frame.has_task_results()) {
    other.push_back(frame);
  }
}

bool WorkerDriver::has_image_of(const Effect& spawn) const {
  return std::ranges::any_of(images,
                             [&](const WorkerProcess::Received& image) { return image.frame.image().id() == spawn.spawn().image(); });
}

const Effect::End* WorkerDriver::end_of(std::uint64_t thread) const {
  const auto found = std::ranges::find_if(effects, [&](const Effect& effect) { return effect.has_end() && effect.thread() == thread; });
  return found == effects.end() ? nullptr : &found->end();
}

std::vector<wire::pb::Determinant> WorkerDriver::determinants(std::uint64_t thread) const {
  std::vector<wire::pb::Determinant> list;
  for (const FromWorker& frame : other)
    if (frame.determinants().thread() == thread)
      list.insert(list.end(), frame.determinants().determinants().begin(), frame.determinants().determinants().end());
  return list;
}

std::string WorkerDriver::output(std::uint64_t thread, std::uint32_t descriptor) const {
  std::string text;
  for (const Effect& effect : effects)
    if (effect.thread() == thread && effect.has_output() && effect.output().descriptor() == descriptor) text += effect.output().bytes();
  return text;
}

}  // namespace gw::test
