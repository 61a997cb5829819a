// A job in a real worker process, driven as the command line drives it: streams, ends, suspension, and recovery from a journal.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "node/jobs/local_job.h"
#include "os/file.h"
#include "toolchain/build.h"

namespace gw {
namespace {

using namespace std::chrono_literals;
using node::LocalJob;

// Prints its arguments, echoes its input in capitals, and exits with the number of lines.
constexpr const char* kShout = R"(
#include <ctype.h>
#include <stdio.h>
int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) printf("[%s]", argv[i]);
  int lines = 0;
  for (int c; (c = getchar()) != EOF; putchar(toupper(c))) lines += c == '\n';
  fprintf(stderr, "%d lines", lines);
  return lines;
}
)";

// Works for a while and prints a line for each part of it; in the middle it waits for input.
constexpr const char* kSteps = R"(
#include <stdio.h>
#include <time.h>
int main(void) {
  unsigned x = 1;
  for (int part = 0; part < 24; ++part) {
    for (int i = 0; i < 3000000; ++i) x = x * 1664525u + 1013904223u;
    if (part == 12) getchar();
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    printf("part %d %u\n", part, x);
    fflush(stdout);
  }
}
)";

constexpr const char* kTrap = R"(
int main(void) { volatile int* nowhere = (int*)0xfffffff0u; return *nowhere; }
)";

Bytes build(const os::TempDir& folder, const char* source) {
  const auto file = folder.path() / "guest.c";
  std::ofstream(file) << source;
  auto built = toolchain::build({.inputs = {file}});
  GW_ASSERT(built.has_value());
  return std::move(built->wasm);
}

struct Silent final : node::JobObserver {
  void on_report(job::ThreadId, ByteView) override {}
};

// Collects what is written to a pipe.
class Sink {
 public:
  Sink() {
    int ends[2];
    GW_ASSERT(::pipe2(ends, O_CLOEXEC) == 0);
    write_.reset(ends[1]);
    reader_ = std::thread([this, fd = os::UniqueFd(ends[0])] {
      char buffer[4096];
      for (ssize_t n; (n = ::read(fd.get(), buffer, sizeof buffer)) > 0;) text_.append(buffer, static_cast<std::size_t>(n));
    });
  }
  ~Sink() {
    if (reader_.joinable()) text();
  }
  int fd() const { return write_.get(); }
  const std::string& text() {
    write_.reset();
    if (reader_.joinable()) reader_.join();
    return text_;
  }

 private:
  os::UniqueFd write_;
  std::thread reader_;
  std::string text_;
};

class LocalJobTest : public testing::Test {
 protected:
  LocalJobTest() : folder_(os::TempDir::make().value()), code_(node::NativeCode::open({.cache_root = folder_.path() / "cache"}).value()) {}

  LocalJob::Config config() {
    return {.worker = GODWIT_WORKER,
            .code = code_,
            .observer = observer_,
            .input = input_.get(),
            .output = out_.fd(),
            .errors = err_.fd(),
            .suspend_to = folder_.path() / "suspended.gwi"};
  }
  void type(std::string_view text) {
    GW_ASSERT(os::write_file_atomic(folder_.path() / "stdin", as_bytes(text), os::Durability::unflushed).has_value());
    input_.reset(::open((folder_.path() / "stdin").c_str(), O_RDONLY | O_CLOEXEC));
  }
  static wire::pb::JobSpec spec(std::vector<std::string> args, std::chrono::nanoseconds checkpoint_every = 0ns) {
    wire::pb::JobSpec spec;
    for (std::string& arg : args) spec.mutable_config()->add_args(std::move(arg));
    spec.mutable_config()->set_random_seed(std::string(32, 'r'));
    spec.set_checkpoint_every_ns(static_cast<std::uint64_t>(checkpoint_every.count()));
    return spec;
  }
  static const wire::pb::Effect::End& end_of(const Result<node::JobOutcome>& outcome) {
    GW_ASSERT(outcome.has_value());
    return std::get<node::JobEnded>(outcome->how).main;
  }

  os::TempDir folder_;
  node::NativeCode code_;
  Silent observer_;
  Sink out_, err_;
  os::UniqueFd input_{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
};

std::string all_steps(LocalJob::Config config, const Bytes& module, Sink& out, const wire::pb::JobSpec& spec) {
  config.output = out.fd();
  auto job = LocalJob::start(config, spec, module, std::nullopt);
  GW_ASSERT(job.has_value());
  GW_ASSERT((*job)->run().has_value());
  return out.text();
}

TEST_F(LocalJobTest, PassesArgumentsStreamsAndExitCode) {
  type("one\ntwo\n");
  auto job = LocalJob::start(config(), spec({"shout", "a", "b c"}), build(folder_, kShout), std::nullopt);
  ASSERT_TRUE(job.has_value()) << job.error().detail;
  auto outcome = (*job)->run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().detail;
  EXPECT_EQ(end_of(outcome).exit_code(), 2u);
  EXPECT_EQ(out_.text(), "[a][b c]ONE\nTWO\n");
  EXPECT_EQ(err_.text(), "2 lines");
}

TEST_F(LocalJobTest, TellsHowAProgramTrapped) {
  auto job = LocalJob::start(config(), spec({"trap"}), build(folder_, kTrap), std::nullopt);
  ASSERT_TRUE(job.has_value()) << job.error().detail;
  auto outcome = (*job)->run();
  EXPECT_EQ(end_of(outcome).reason(), wire::pb::Effect::End::TRAPPED);
  EXPECT_THAT(end_of(outcome).sentence(), testing::HasSubstr("memory"));
}

TEST_F(LocalJobTest, GoesOnFromASuspendedImageWithTheSameOutput) {
  const Bytes module = build(folder_, kSteps);
  Sink whole;
  const std::string expected = all_steps(config(), module, whole, spec({"steps"}));
  // It cannot end before it is asked to stop: nobody types.
  int typing[2];
  ASSERT_EQ(::pipe2(typing, O_CLOEXEC), 0);
  const os::UniqueFd silent(typing[0]), keyboard(typing[1]);
  LocalJob::Config stopping = config();
  stopping.input = silent.get();
  auto job = LocalJob::start(stopping, spec({"steps"}), module, std::nullopt);
  ASSERT_TRUE(job.has_value()) << job.error().detail;
  std::jthread asker([&] {
    std::this_thread::sleep_for(200ms);
    (*job)->request_suspend();
  });
  auto outcome = (*job)->run();
  asker.join();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().detail;
  ASSERT_TRUE(std::holds_alternative<node::JobSuspended>(outcome->how));
  job->reset();
  auto image = wire::Image::decode(os::read_file(folder_.path() / "suspended.gwi", 1u << 30).value());
  ASSERT_TRUE(image.has_value());
  auto second = LocalJob::resume(config(), *image, {});
  ASSERT_TRUE(second.has_value()) << second.error().detail;
  outcome = (*second)->run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().detail;
  EXPECT_EQ(end_of(outcome).exit_code(), 0u);
  EXPECT_EQ(out_.text(), expected);
}

std::string recorded(const std::filesystem::path& path) {
  auto journal = node::Journal::open(path);
  GW_ASSERT(journal.has_value());
  std::string all;
  GW_ASSERT(journal
                ->visit_effects([&](const job::Effect& effect) -> Status {
                  if (effect.has_output()) all += effect.output().bytes();
                  return ok();
                })
                .has_value());
  return all;
}

TEST_F(LocalJobTest, AJournalledJobThatIsDroppedAgainAndAgainEndsWithTheSameRecord) {
  const Bytes module = build(folder_, kSteps);
  Sink whole;
  const std::string expected = all_steps(config(), module, whole, spec({"steps"}));
  const auto path = folder_.path() / "job";
  auto job = LocalJob::start(config(), spec({"steps"}, 50ms), module, path);
  ASSERT_TRUE(job.has_value()) << job.error().detail;
  for (int round = 0;; ++round) {
    ASSERT_LT(round, 100);
    // Each life is cut off without a word to the worker, after a little longer than the one before.
    std::jthread killer([&, stop = job->get()] {
      std::this_thread::sleep_for(std::chrono::milliseconds(80 + 40 * round));
      stop->request_stop();
    });
    auto outcome = (*job)->run();
    killer.join();
    ASSERT_TRUE(outcome.has_value()) << outcome.error().detail;
    job->reset();
    if (std::holds_alternative<node::JobEnded>(outcome->how)) break;
    job = LocalJob::recover(config(), path);
    ASSERT_TRUE(job.has_value()) << job.error().detail;
  }
  EXPECT_EQ(recorded(path), expected);
}

}  // namespace
}  // namespace gw
