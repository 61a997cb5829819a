// Tasks through the table of workers that a daemon has, with a real worker.

#include <gtest/gtest.h>

#include "node/embedded/poll_loop.h"
#include "node/worker/worker_table.h"
#include "os/clock.h"
#include "os/files/file.h"
#include "worker_driver.h"

namespace gw::test {
namespace {

class TableWithTasks : public ::testing::Test, protected node::WorkerTable::Owner, protected node::BlobReader {
 protected:
  static constexpr job::WorkerId kWorker{1};
  static constexpr std::uint32_t kTasks = 50;

  TableWithTasks() { table_.start({.worker = kWorker, .job = {}, .slots = 1}, {}); }

  void load_module() {
    wasm_ = build_guest("any_task");
    GW_ASSERT(wasm_.size() <= wire::kInputChunkBytes);  // one piece
    job::FrameToWorker frame{.worker = kWorker, .frame = {}, .beside = {}};
    frame.frame.mutable_load()->set_pool_threads(2);
    const Hash256 hash = sha256(wasm_);
    frame.beside.push_back({.form = job::Attachment::Form::pieces, .bytes = {}, .blobs = {hash}, .whole = hash});
    table_.send(std::move(frame));
  }
  void set_up(const std::string& what) {
    wire::pb::ThreadConfig config;
    for (const std::string& arg : {std::string("any_task"), what, std::string("all")}) config.add_args(arg);
    config.set_random_seed(std::string(32, 's'));
    job::FrameToWorker frame{.worker = kWorker, .frame = {}, .beside = {}};
    frame.frame.mutable_task_setup()->set_tasks(kTasks);
    frame.frame.mutable_task_setup()->set_promote_after_ns(3'600'000'000'000);
    frame.beside.push_back({.form = job::Attachment::Form::given, .bytes = config.SerializeAsString(), .blobs = {}, .whole = {}});
    table_.send(std::move(frame));
  }
  void run_tasks() {
    job::FrameToWorker frame{.worker = kWorker, .frame = {}, .beside = {}};
    frame.frame.mutable_run_tasks()->set_lanes(2);
    frame.frame.mutable_run_tasks()->add_ranges()->set_count(kTasks);
    table_.send(std::move(frame));
  }
  bool run_until(const std::function<bool()>& done) {
    const auto give_up = os::monotonic_now() + std::chrono::minutes(5);
    std::vector<pollfd> none;
    while (!done() && os::monotonic_now() < give_up) {
      if (!loop_.wait(none, std::min(table_.next_deadline(), os::monotonic_now() + std::chrono::milliseconds(100)))) return false;
      table_.on_deadline(os::monotonic_now());
    }
    return done();
  }

  void on_worker(job::WorkerId, peer::WorkerFrame frame) override { results_ += frame.frame.task_results().results_size(); }
  void on_restore_failed(job::WorkerId, const peer::RestoreFailed&) override {}
  void on_worker_progress(job::WorkerId) override {}
  void on_worker_lost(job::WorkerId, const node::Death& death) override { lost_ = death; }
  void on_worker_wakeup() override {}
  Result<std::string> load(const Hash256&) override { return std::string(as_text(wasm_)); }

  Bytes wasm_;
  int results_ = 0;
  std::optional<node::Death> lost_;
  os::TempDir folder_ = os::TempDir::make().value();
  node::NativeCode code_ = node::NativeCode::open({.cache_root = folder_.path(), .compiler = {}, .filler = {}}).value();
  node::PollLoop loop_{*this};
  node::WorkerTable table_{{loop_, code_, *this}, {.process = {.program = worker_program(), .limits = {}}, .spares = 0}};
};

TEST_F(TableWithTasks, SendsTheirConfigurationBesideTheSetup) {
  load_module();
  set_up("nothing");
  run_tasks();  // waits behind both
  EXPECT_TRUE(run_until([&] { return results_ == static_cast<int>(kTasks); }));
  EXPECT_FALSE(lost_) << lost_->sentence;
}

}  // namespace
}  // namespace gw::test
