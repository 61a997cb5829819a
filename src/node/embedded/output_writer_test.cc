#include "node/embedded/output_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "os/files/unique_fd.h"

namespace gw::node {
namespace {

struct ShownReports final : JobObserver {
  void on_report(job::ThreadId, ByteView bytes) override { all.emplace_back(as_text(bytes)); }
  std::vector<std::string> all;
};

job::Effect an_output(std::uint64_t sequence, std::string bytes) {
  job::Effect effect;
  effect.set_thread(1);
  effect.set_sequence(sequence);
  effect.mutable_output()->set_descriptor(1);
  effect.mutable_output()->set_bytes(std::move(bytes));
  wire::set_stream(effect);
  return effect;
}

class OutputWriterTest : public testing::Test {
 protected:
  OutputWriterTest() {
    int ends[2];
    GW_ASSERT(::pipe2(ends, O_CLOEXEC) == 0);
    reader_.reset(ends[0]);
    writer_.reset(ends[1]);
    writing_.emplace(OutputWriter::Descriptors{writer_.get(), writer_.get()}, reports_);
  }
  std::string read_some() {
    std::string bytes(1u << 20, '\0');
    const ssize_t n = ::read(reader_.get(), bytes.data(), bytes.size());
    bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return bytes;
  }

  os::UniqueFd reader_, writer_;
  ShownReports reports_;
  std::optional<OutputWriter> writing_;
};

TEST_F(OutputWriterTest, ShowsOutputAndReportsInTheirOrder) {
  writing_->add(an_output(1, "one "));
  job::Effect report;
  report.set_thread(1);
  report.set_sequence(2);
  report.set_report("half");
  writing_->add(report);
  writing_->add(an_output(3, "two"));
  ASSERT_TRUE(writing_->advance().has_value());
  EXPECT_TRUE(writing_->empty());
  EXPECT_EQ(read_some(), "one two");
  EXPECT_THAT(reports_.all, testing::ElementsAre("half"));
  EXPECT_EQ(writing_->waiting_bytes(), 0u);
}

TEST_F(OutputWriterTest, AFullPipeHoldsUpWhatFollowsAndLosesNothing) {
  const std::string large(300'000, 'x');
  writing_->add(an_output(1, large));
  writing_->add(an_output(2, "end"));
  ASSERT_TRUE(writing_->advance().has_value());
  EXPECT_EQ(writing_->blocked_on(), writer_.get());
  EXPECT_EQ(writing_->waiting_bytes(), large.size() + 3);
  const auto left = writing_->waiting();
  ASSERT_EQ(left.size(), 2u);
  EXPECT_LT(left[0].output().bytes().size(), large.size()) << "without what was shown";
  std::string all;
  while (!writing_->empty()) {
    all += read_some();
    ASSERT_TRUE(writing_->advance().has_value());
  }
  EXPECT_EQ(writing_->waiting_bytes(), 0u);
  while (all.size() < large.size() + 3) all += read_some();
  EXPECT_EQ(all, large + "end");
}

TEST_F(OutputWriterTest, LinesOfOneStreamShareAWrite) {
  int packets[2];
  ASSERT_EQ(::pipe2(packets, O_CLOEXEC | O_DIRECT), 0);  // each write is read alone
  const os::UniqueFd reads(packets[0]), writes(packets[1]);
  OutputWriter writing({writes.get(), writes.get()}, reports_);
  std::string all;
  for (std::uint64_t i = 1; i <= 300; ++i) {
    all += "line\n";
    writing.add(an_output(i, "line\n"));
  }
  ASSERT_TRUE(writing.advance().has_value());
  std::string bytes(1u << 16, '\0');
  bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(reads.get(), bytes.data(), bytes.size()), 0)));
  EXPECT_EQ(bytes, all);
}

TEST_F(OutputWriterTest, ErrorsStayBehindTheOutputBeforeThem) {
  job::Effect error = an_output(2, "error ");
  error.mutable_output()->set_descriptor(2);
  writing_->add(an_output(1, "before "));
  writing_->add(error);
  writing_->add(an_output(3, ""));
  writing_->add(an_output(4, "after"));
  ASSERT_TRUE(writing_->advance().has_value());
  EXPECT_EQ(read_some(), "before error after");
  EXPECT_TRUE(writing_->empty());
}

TEST_F(OutputWriterTest, AReaderThatWentAwayDoesNotStopTheProgram) {
  ::signal(SIGPIPE, SIG_IGN);
  reader_.reset();
  writing_->add(an_output(1, "nobody"));
  ASSERT_TRUE(writing_->advance().has_value());
  EXPECT_TRUE(writing_->broken());
  EXPECT_TRUE(writing_->empty());
}

}  // namespace
}  // namespace gw::node
