// A program in a real worker process, driven as the command line drives it: streams, ends, suspension, and recovery from a job file.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <stop_token>
#include <thread>

#include "../guest_module.h"
#include "node/embedded/embedded_peer.h"
#include "node/embedded/gate_state.h"
#include "os/files/file.h"

namespace gw {
namespace {

using namespace std::chrono_literals;
using node::EmbeddedPeer;

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

// Two threads that work for a while; the child prints what the parent does, with another name. In the middle the parent waits for input.
constexpr const char* kTwins = R"(
#include <godwit/godwit.h>
#include <stdio.h>
int main(void) {
  uint64_t child = 0;
  if (godwit_fork(&child) != 0) return 9;
  unsigned x = 1;
  for (int part = 0; part < 12; ++part) {
    for (int i = 0; i < 3000000; ++i) x = x * 1664525u + 1013904223u;
    if (part == 6 && child != 0) getchar();
    printf("%s %d %u\n", child != 0 ? "parent" : "child", part, x);
    fflush(stdout);
  }
}
)";

// Prints more than a pipe and all buffers on the way hold.
constexpr const char* kChatter = R"(
#include <stdio.h>
int main(void) {
  for (int i = 0; i < 400000; ++i) printf("line %d\n", i);
}
)";

constexpr const char* kTrap = R"(
int main(void) { volatile int* nowhere = (int*)0xfffffff0u; return *nowhere; }
)";

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
      for (ssize_t n; (n = ::read(fd.get(), buffer, sizeof buffer)) > 0;) {
        const std::lock_guard lock(mutex_);
        text_.append(buffer, static_cast<std::size_t>(n));
        grown_.notify_all();
      }
    });
  }
  ~Sink() {
    if (reader_.joinable()) text();
  }
  int fd() const { return write_.get(); }
  std::size_t lines() {
    const std::lock_guard lock(mutex_);
    return lines_locked();
  }
  // False: it was told to stop before there were so many.
  bool wait_for_lines(std::size_t lines, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    return grown_.wait(lock, stop, [&] { return lines_locked() >= lines; });
  }
  const std::string& text() {
    write_.reset();
    if (reader_.joinable()) reader_.join();
    return text_;
  }

 private:
  std::size_t lines_locked() const { return static_cast<std::size_t>(std::ranges::count(text_, '\n')); }

  os::UniqueFd write_;
  std::mutex mutex_;
  std::condition_variable_any grown_;
  std::string text_;
  std::thread reader_;
};

// Input that does not come, and does not end.
class SilentInput {
 public:
  SilentInput() {
    int ends[2];
    GW_ASSERT(::pipe2(ends, O_CLOEXEC) == 0);
    read_.reset(ends[0]);
    write_.reset(ends[1]);
  }
  int fd() const { return read_.get(); }

 private:
  os::UniqueFd read_, write_;
};

class EmbeddedPeerTest : public testing::Test {
 protected:
  EmbeddedPeerTest()
      : folder_(os::TempDir::make().value()), code_(node::NativeCode::open({.cache_root = folder_.path() / "cache"}).value()) {}

  EmbeddedPeer::Config config() {
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
  static Result<std::unique_ptr<EmbeddedPeer>> recover(const EmbeddedPeer::Config& config, const std::filesystem::path& path) {
    auto file = node::JobFile::open(path);
    if (!file) return file.error();
    wire::pb::JobSpec words = (*file)->spec();
    return EmbeddedPeer::recover(config, *std::move(file), std::move(words));
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

std::string all_steps(EmbeddedPeer::Config config, const Bytes& module, Sink& out, const wire::pb::JobSpec& spec) {
  config.output = out.fd();
  auto job = EmbeddedPeer::start(config, spec, module, std::nullopt);
  GW_ASSERT(job.has_value());
  GW_ASSERT((*job)->run().has_value());
  return out.text();
}

TEST_F(EmbeddedPeerTest, PassesArgumentsStreamsAndExitCode) {
  type("one\ntwo\n");
  auto job = EmbeddedPeer::start(config(), spec({"shout", "a", "b c"}), build_guest(folder_.path(), kShout), std::nullopt);
  ASSERT_TRUE(job.has_value()) << job.error().detail;
  auto outcome = (*job)->run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().detail;
  EXPECT_EQ(end_of(outcome).exit_code(), 2u);
  EXPECT_EQ(out_.text(), "[a][b c]ONE\nTWO\n");
  EXPECT_EQ(err_.text(), "2 lines");
}

TEST_F(EmbeddedPeerTest, TellsHowAProgramTrapped) {
  auto job = EmbeddedPeer::start(config(), spec({"trap"}), build_guest(folder_.path(), kTrap), std::nullopt);
  ASSERT_TRUE(job.has_value()) << job.error().detail;
  auto outcome = (*job)->run();
  EXPECT_EQ(end_of(outcome).reason(), wire::pb::Effect::End::TRAPPED);
  EXPECT_THAT(end_of(outcome).sentence(), testing::HasSubstr("memory"));
}

TEST_F(EmbeddedPeerTest, GoesOnFromASuspendedImageWithTheSameOutput) {
  const Bytes module = build_guest(folder_.path(), kSteps);
  Sink whole;
  const std::string expected = all_steps(config(), module, whole, spec({"steps"}));
  // The program cannot end before the stop request: it waits for input that never comes.
  const SilentInput silent;
  EmbeddedPeer::Config stopping = config();
  stopping.input = silent.fd();
  auto job = EmbeddedPeer::start(stopping, spec({"steps"}), module, std::nullopt);
  ASSERT_TRUE(job.has_value()) << job.error().detail;
  std::jthread asker([&](const std::stop_token& over) {
    if (out_.wait_for_lines(3, over)) (*job)->request_suspend();
  });
  auto outcome = (*job)->run();
  asker.request_stop();
  asker.join();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().detail;
  ASSERT_TRUE(std::holds_alternative<node::JobSuspended>(outcome->how));
  job->reset();
  auto image = wire::Image::decode(os::read_file(folder_.path() / "suspended.gwi", 1u << 30).value());
  ASSERT_TRUE(image.has_value());
  auto second = EmbeddedPeer::resume(config(), *image, node::spec_of(*image).value());
  ASSERT_TRUE(second.has_value()) << second.error().detail;
  outcome = (*second)->run();
  ASSERT_TRUE(outcome.has_value()) << outcome.error().detail;
  EXPECT_EQ(end_of(outcome).exit_code(), 0u);
  EXPECT_EQ(out_.text(), expected);
}

std::string recorded(const std::filesystem::path& path) {
  auto file = node::JobFile::open(path);
  GW_ASSERT(file.has_value());
  std::string all;
  GW_ASSERT((*file)
                ->visit_effects([&](const job::Effect& effect) -> Status {
                  if (effect.has_output()) all += effect.output().bytes();
                  return ok();
                })
                .has_value());
  return all;
}

TEST_F(EmbeddedPeerTest, AProgramWithAFileThatIsKilledAgainAndAgainEndsWithTheSameRecord) {
  const Bytes module = build_guest(folder_.path(), kSteps);
  Sink whole;
  const std::string expected = all_steps(config(), module, whole, spec({"steps"}));
  const auto path = folder_.path() / "job";
  auto job = EmbeddedPeer::start(config(), spec({"steps"}, 50ms), module, path);
  ASSERT_TRUE(job.has_value()) << job.error().detail;
  for (int round = 0;; ++round) {
    ASSERT_LT(round, 100);
    // Each run is cut off without a word to the worker, a line later than the one before.
    std::jthread killer([&, stop = job->get(), lines = out_.lines() + static_cast<std::size_t>(round)](const std::stop_token& over) {
      if (out_.wait_for_lines(lines, over)) stop->request_stop();
    });
    auto outcome = (*job)->run();
    killer.request_stop();
    killer.join();
    ASSERT_TRUE(outcome.has_value()) << outcome.error().detail;
    job->reset();
    if (std::holds_alternative<node::JobEnded>(outcome->how)) break;
    job = recover(config(), path);
    ASSERT_TRUE(job.has_value()) << job.error().detail;
  }
  EXPECT_EQ(recorded(path), expected);
  EXPECT_EQ(out_.text(), expected) << "what a command leaves unshown the next one shows";
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

TEST_F(EmbeddedPeerTest, AllThreadsOfASuspendedProgramContinue) {
  const Bytes module = build_guest(folder_.path(), kTwins);
  Sink whole;
  const std::vector<std::string> expected = sorted_lines(all_steps(config(), module, whole, spec({"twins"})));
  ASSERT_EQ(expected.size(), 24u);
  // The program cannot end before the last suspension: until then no input comes.
  const SilentInput silent;
  EmbeddedPeer::Config stopping = config();
  stopping.input = silent.fd();
  auto job = EmbeddedPeer::start(stopping, spec({"twins"}), module, std::nullopt);
  ASSERT_TRUE(job.has_value()) << job.error().detail;
  constexpr std::size_t kSuspensions = 4;  // then it may end
  std::size_t suspensions = 0;
  for (;;) {
    std::jthread asker([&](const std::stop_token& over) {
      if (suspensions < kSuspensions && out_.wait_for_lines(2 * (suspensions + 1), over)) (*job)->request_suspend();
    });
    auto outcome = (*job)->run();
    asker.request_stop();
    asker.join();
    ASSERT_TRUE(outcome.has_value()) << outcome.error().detail;
    job->reset();
    if (std::holds_alternative<node::JobEnded>(outcome->how)) break;
    ASSERT_TRUE(std::holds_alternative<node::JobSuspended>(outcome->how));
    ++suspensions;
    const EmbeddedPeer::Config next = suspensions < kSuspensions ? stopping : config();
    // If the child has ended by then, the main thread alone is saved as an image.
    const auto file = std::get<node::JobSuspended>(outcome->how).file;
    const bool one_thread = !node::JobFile::is_job_file(os::read_head(file, node::JobFile::kHeadBytes).value());
    if (one_thread) {
      const wire::Image image = wire::Image::decode(os::read_file(file, 1u << 30).value()).value();
      job = EmbeddedPeer::resume(next, image, node::spec_of(image).value());
    } else {
      job = recover(next, file);
    }
    ASSERT_TRUE(job.has_value()) << job.error().detail;
  }
  EXPECT_EQ(suspensions, kSuspensions);
  EXPECT_EQ(sorted_lines(out_.text()), expected);
}

TEST_F(EmbeddedPeerTest, AReaderThatIsSlowGetsEverythingInTheEnd) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  os::UniqueFd read_end(ends[0]), write_end(ends[1]);
  EmbeddedPeer::Config slow = config();
  slow.output = write_end.get();
  const int kPipeBytes = ::fcntl(write_end.get(), F_SETPIPE_SZ, 65536);
  ASSERT_GT(kPipeBytes, 0);
  auto job = EmbeddedPeer::start(slow, spec({"chatter"}), build_guest(folder_.path(), kChatter), std::nullopt);
  ASSERT_TRUE(job.has_value()) << job.error().detail;
  std::string text;
  std::thread reader([&] {
    // The program fills the pipe first. A full one is more than half full: of two pages in it that follow each other, the second was begun
    // because the first had no room for what is in it.
    for (int waiting = 0; waiting <= kPipeBytes / 2;) GW_ASSERT(::ioctl(read_end.get(), FIONREAD, &waiting) == 0);
    char buffer[65536];
    for (ssize_t n; (n = ::read(read_end.get(), buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  });
  auto outcome = (*job)->run();
  write_end.reset();
  reader.join();
  EXPECT_EQ(end_of(outcome).exit_code(), 0u);
  std::string expected;
  for (int i = 0; i < 400000; ++i) expected += fmt::format("line {}\n", i);
  EXPECT_TRUE(text == expected) << text.size() << " bytes of " << expected.size();
}

}  // namespace
}  // namespace gw
