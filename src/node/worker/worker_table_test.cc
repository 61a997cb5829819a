#include "node/worker/worker_table.h"

#include <gmock/gmock.h>

#include "node/embedded/poll_loop.h"
#include "os/clock.h"
#include "os/files/file.h"

namespace gw::node {
namespace {

// Programs that are no workers: what a table does when a worker does not come up.
class WorkerTableTest : public testing::Test, protected WorkerTable::Owner, protected BlobReader {
 protected:
  void make(const char* program) { table_.emplace(WorkerTable::Parts{loop_, code_, *this}, config(program)); }
  static WorkerTable::Config config(const char* program) { return {.process = {.program = program, .limits = {}}, .spares = 0}; }
  void start() { table_->start({.worker = kWorker, .job = {}, .slots = 1}, {}); }
  void run_until_lost() {
    const job::Time end = os::monotonic_now() + std::chrono::seconds(20);
    std::vector<pollfd> none;
    while (lost_.empty() && os::monotonic_now() < end) {
      ASSERT_TRUE(loop_.wait(none, std::min(table_->next_deadline(), os::monotonic_now() + std::chrono::seconds(1))));
      table_->on_deadline(os::monotonic_now());
    }
  }

  void on_worker(job::WorkerId, peer::WorkerFrame) override {}
  void on_restore_failed(job::WorkerId, const peer::RestoreFailed&) override {}
  void on_worker_progress(job::WorkerId) override {}
  void on_worker_lost(job::WorkerId worker, const Death& death) override {
    EXPECT_EQ(worker, kWorker);
    lost_.push_back(death.sentence);
  }
  void on_worker_wakeup() override { ++wakeups_; }
  Result<std::string> load(const Hash256&) override { return fail(Kind::not_found, "there is no such blob"); }

  static constexpr job::WorkerId kWorker{7};
  os::TempDir folder_ = os::TempDir::make().value();
  NativeCode code_ = NativeCode::open({.cache_root = folder_.path(), .compiler = {}, .filler = {}}).value();
  PollLoop loop_{*this};
  std::optional<WorkerTable> table_;
  std::vector<std::string> lost_;
  int wakeups_ = 0;
};

TEST_F(WorkerTableTest, AWorkerThatDiesIsLostOnceAndNotInsideACall) {
  make("/bin/false");
  start();
  EXPECT_TRUE(lost_.empty());
  run_until_lost();
  EXPECT_EQ(lost_.size(), 1u);
  EXPECT_EQ(table_->size(), 0u);
  EXPECT_GT(wakeups_, 0);
}

TEST_F(WorkerTableTest, AWorkerThatCannotBeStartedIsLost) {
  make("/nowhere/worker");
  start();
  EXPECT_TRUE(lost_.empty());
  run_until_lost();
  EXPECT_EQ(lost_.size(), 1u);
}

TEST_F(WorkerTableTest, AWorkerWhoseFrameCannotBeCompletedIsLost) {
  make("/bin/cat");
  start();
  job::FrameToWorker frame{.worker = kWorker, .frame = {}, .beside = {{.form = job::Attachment::Form::pieces, .bytes = {}, .blobs = {{}}}}};
  frame.frame.mutable_start()->set_thread(1);
  table_->send(std::move(frame));
  EXPECT_TRUE(lost_.empty());
  run_until_lost();
  EXPECT_THAT(lost_, testing::ElementsAre("there is no such blob"));
}

TEST_F(WorkerTableTest, AKilledWorkerIsNotLost) {
  make("/bin/cat");
  start();
  EXPECT_EQ(table_->size(), 1u);
  table_->kill(kWorker);
  EXPECT_EQ(table_->size(), 0u);
  std::vector<pollfd> none;
  ASSERT_TRUE(loop_.wait(none, os::monotonic_now() + std::chrono::milliseconds(10)));
  EXPECT_TRUE(lost_.empty());
  table_->send({.worker = kWorker, .frame = {}, .beside = {}});  // a frame that was on its way to it
}

}  // namespace
}  // namespace gw::node
