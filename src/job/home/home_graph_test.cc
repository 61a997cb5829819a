// Home and the tasks of a graph: their order, the files they leave for each other, restarts.

#include "job/home/home_recovery.h"
#include "job/records.h"
#include "job/test/at_home.h"
#include "job/test/graphs.h"
#include "job/test/tasks.h"

namespace gw::job {
namespace home_test {
namespace {

using test::diamond;
using test::TestStage;

// The effect of a task that leaves a file of one piece.
Effect file_of(const std::string& path, const std::string& bytes) {
  Effect effect;
  effect.mutable_file()->set_path(path);
  effect.mutable_file()->set_bytes(bytes);
  effect.mutable_file()->set_last(true);
  return effect;
}

class AtHomeWithGraph : public AtHome {
 protected:
  using List = std::vector<std::uint32_t>;

  AtHomeWithGraph() {
    environment_.blobs = {.has = [this](const Hash256& hash) { return stored_.contains(hash); },
                          .put = [this](const JobId&, const Hash256& hash, std::string bytes, Actions&) { put_[hash] = std::move(bytes); },
                          .adopt = [this](const JobId&, const Hash256& hash) { adopted_.insert(hash); }};
    peers_.free_slots = {{id_of(kFirst), 2}, {id_of(kSecond), 2}, {id_of(kKeeperPeer), 0}};
  }

  void begin_graph(const std::vector<TestStage>& stages, std::uint32_t retries = 0) {
    wire::pb::Manifest manifest = test::manifest_of_graph(stages);
    manifest.mutable_policy()->set_retries(retries);
    manifest_ = Manifest::encode(manifest);
    tasks_ = test::tasks_in(stages);
    make_home();
    home_->begin(now_, {.manifest = manifest_}, out_);
    take();
  }
  void make_home() { home_ = std::make_unique<job::Home>(config_, environment_, charter_, Manifest::check(manifest_).value()); }
  // As after the death of the daemon: with what was recorded and appended.
  void restart() {
    HomeRecords records;
    for (const auto& [key, value] : records_) {
      const RecordKey decoded = RecordKey::decode(key).value();
      if (decoded.kind == RecordKind::thread) ASSERT_TRUE(records.threads[decoded.thread].ParseFromString(value));
      if (decoded.kind == RecordKind::task_file) ASSERT_TRUE(records.files[decoded.thread][decoded.number].ParseFromString(value));
    }
    for (const Append& append : appends_) records.effects.push_back(append.entry.header);
    put_.clear();
    reports_ = 0;
    round_ = 0;
    make_home();
    ASSERT_TRUE(home_->recover(now_, records));
    home_->on_tick(now_, out_);
  }

  std::vector<std::uint32_t> given() {
    std::vector<std::uint32_t> tasks;
    for (const auto& [to, message] : take()) {
      if (message.has_files_are()) answers_.push_back(message.files_are());
      if (!message.has_task_batch() || message.task_batch().number() == 0) continue;
      const wire::pb::TaskRange& range = message.task_batch().tasks();
      for (std::uint32_t task = range.first(); task < range.first() + range.count(); ++task)
        if (std::ranges::find(tasks, task) == tasks.end()) tasks.push_back(task);  // batches are repeated
    }
    return tasks;
  }
  std::vector<std::uint32_t> claim() {
    let_ask(kFirst);
    JobMessage::Offer offer;
    offer.set_round(round_);
    offer.set_claim(7);
    offer.set_slots(4);
    home_->on_offer(now_, id_of(kFirst), offer, out_);
    List tasks = given();
    if (!tasks.empty()) return tasks;
    tick(config_.slots.search.answer);  // home waits for better offers
    return given();
  }
  void end(std::uint32_t task, std::uint32_t exit_code = 0, const std::vector<Effect>& files = {}) {
    EffectGate gate(thread_of_task(task, tasks_));
    for (Effect file : files) gate.emit(std::move(file));
    Effect over;
    over.mutable_end()->set_exit_code(exit_code);
    gate.emit(std::move(over));
    JobMessage::TaskReport report;
    report.set_claim(7);
    report.set_session(environment_.boot);
    report.set_number(++reports_);
    wire::pb::TaskResult& result = *report.add_results();
    result.set_task(task);
    for (Effect& effect : gate.take_sendable(1u << 20)) *result.add_effects() = std::move(effect);
    home_->on_task_report(now_, id_of(kFirst), report, out_);
  }
  // The disk has stored everything that it was given.
  void store() {
    for (auto blobs = std::exchange(put_, {}); const auto& [hash, bytes] : blobs) {
      stored_[hash] = bytes;
      home_->on_blob_stored(now_, hash, out_);
    }
  }
  std::optional<JobMessage::FilesAre::Files> ask(std::uint32_t task) {
    JobMessage::WantFiles want;
    want.add_tasks(task);
    answers_.clear();
    home_->on_want_files(id_of(kFirst), want, out_);
    given();
    return answers_.empty() ? std::nullopt : std::optional(answers_[0].files(0));
  }
  std::size_t count_records(RecordKind kind) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(records_, [&](const auto& entry) { return RecordKey::decode(entry.first)->kind == kind; }));
  }

  Bytes manifest_;
  std::uint32_t tasks_ = 0;
  std::uint64_t reports_ = 0;
  std::map<Hash256, std::string> put_, stored_;
  std::set<Hash256> adopted_;
  std::vector<JobMessage::FilesAre> answers_;
};

TEST_F(AtHomeWithGraph, RunsTheTasksInTheirOrder) {
  begin_graph(diamond());
  EXPECT_EQ(claim(), List{0});
  const TaskPage page = home_->list_tasks({.from = 5, .limit = 1});
  EXPECT_EQ(page.tasks.at(0).name, "report");
  EXPECT_EQ(page.tasks.at(0).why.reason, Reason::tasks_before);
  EXPECT_EQ(page.tasks.at(0).why.detail, "it waits for left (3 of 3 tasks), right");
  EXPECT_EQ(home_->snapshot().waiting, 5u);
  end(0);
  EXPECT_EQ(given(), (List{1, 2, 3, 4}));
  for (const std::uint32_t task : {4u, 3u, 1u, 2u}) end(task);
  EXPECT_EQ(given(), List{5});
  end(5);
  EXPECT_TRUE(home_->over());
  EXPECT_EQ(home_->record().ended(), 6u);
  EXPECT_EQ(home_->record().skipped(), 0u);
}

TEST_F(AtHomeWithGraph, SkipsWhatComesAfterAFailedTaskAndListsIt) {
  begin_graph(diamond());
  claim();
  end(0);
  given();
  end(2, 3);
  const TaskPage skipped = home_->list_tasks({.filter = TaskFilter::skipped, .limit = 10});
  ASSERT_EQ(skipped.tasks.size(), 1u);
  EXPECT_EQ(skipped.tasks[0].state, ThreadView::State::skipped);
  EXPECT_EQ(skipped.tasks[0].sentence, "skipped because task left[1] failed");
  for (const std::uint32_t task : {1u, 3u, 4u}) end(task);
  take();
  EXPECT_TRUE(home_->over());
  EXPECT_EQ(count<TasksSkipped>(), 1u);
  EXPECT_EQ(home_->record().failed(), 1u);
  EXPECT_EQ(home_->record().skipped(), 1u);
  EXPECT_EQ(home_->record().exit_code(), 3u);
  wire::pb::JobRecord details;
  ASSERT_TRUE(details.ParseFromString(appends_.back().entry.bytes));
  const TaskPage later = page_of(*states_of(details), {.filter = TaskFilter::skipped, .limit = 10}, 6);
  ASSERT_EQ(later.tasks.size(), 1u);
  EXPECT_EQ(later.tasks[0].sentence, "skipped because task left[1] failed");
  EXPECT_EQ(states_of(details)->filtered(TaskFilter::done).size(), 4u);
}

TEST_F(AtHomeWithGraph, ATaskThatRunsAgainHoldsThoseBehindIt) {
  begin_graph({{"a"}, {"b", 1, {0}}}, 1);
  claim();
  end(0, 3);
  EXPECT_EQ(home_->record().skipped(), 0u);
  tick(milliseconds(1000));
  EXPECT_EQ(given(), List{0});
  end(0);
  EXPECT_EQ(given(), List{1});
}

TEST_F(AtHomeWithGraph, AThreadReleasesThoseBehindIt) {
  begin_graph({{"a"}, {"b", 1, {0}}});
  claim();
  JobMessage::TaskReport report;
  report.set_claim(7);
  report.set_session(environment_.boot);
  report.set_number(++reports_);
  report.add_promoted(0);
  home_->on_task_report(now_, id_of(kFirst), report, out_);
  const auto assigned = this->assigned(kFirst);
  ASSERT_EQ(assigned.size(), 1u);
  effects(kFirst, {end_of(assigned[0], 1)});
  EXPECT_EQ(given(), List{1});
}

TEST_F(AtHomeWithGraph, FilesOfATaskAreBlobsBeforeItsResultCounts) {
  begin_graph({{"a", 1, {}, true}, {"b", 1, {0}}});
  claim();
  end(0, 0, {file_of("out", "bytes"), file_of("empty", "")});
  EXPECT_EQ(home_->ended(), 0u) << "its piece is not on disk yet";
  EXPECT_EQ(put_.size(), 1u);
  EXPECT_TRUE(ask(0)->not_over());
  store();
  EXPECT_EQ(home_->ended(), 1u);
  EXPECT_EQ(given(), List{}) << "its list is not on disk yet";
  EXPECT_EQ(ask(0), std::nullopt);
  store();
  EXPECT_EQ(given(), List{1});
  const auto answer = ask(0);
  ASSERT_TRUE(answer);
  wire::pb::TaskFileList list;
  ASSERT_TRUE(list.ParseFromString(stored_.at(wire::hash_of(answer->list()))));
  ASSERT_EQ(list.entries_size(), 2);
  EXPECT_EQ(list.entries(0).path(), "out");
  EXPECT_EQ(stored_.at(wire::hash_of(list.entries(0).chunks(0))), "bytes");
  EXPECT_EQ(count_records(RecordKind::task_file), 2u);
  end(1);
  take();
  EXPECT_TRUE(home_->over());
  EXPECT_EQ(count_records(RecordKind::task_file), 0u);
}

TEST_F(AtHomeWithGraph, AnswersThatATaskIsNotOver) {
  begin_graph({{"a", 1, {}, true}, {"b", 1, {0}}});
  claim();
  EXPECT_TRUE(ask(0)->not_over());
  EXPECT_TRUE(ask(1000)->not_over());
}

// A host asked for ever for the files of a task of which home keeps none for others.
TEST_F(AtHomeWithGraph, AnswersThatATaskLeavesNothingForOthers) {
  begin_graph({{"a"}, {"b", 1, {0}}});
  claim();
  end(0);
  const auto answer = ask(0);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->not_over());
}

TEST_F(AtHomeWithGraph, ReportsOfAHostStayInTheirOrder) {
  begin_graph({{"a", 2, {}, true}, {"b", 1, {0}}});
  claim();
  end(0, 0, {file_of("out", "bytes")});
  end(1);
  EXPECT_EQ(home_->ended(), 0u);
  store();
  EXPECT_EQ(home_->ended(), 2u);
}

TEST_F(AtHomeWithGraph, AFileInPiecesThatAreNoInputsIsRefused) {
  begin_graph({{"a", 1, {}, true}, {"b", 1, {0}}});
  claim();
  Effect half = file_of("out", "half");
  half.mutable_file()->set_last(false);
  end(0, 0, {half});
  EXPECT_EQ(home_->ended(), 0u);
  EXPECT_TRUE(put_.empty());
  take();
  EXPECT_EQ(count<PeerRefused>(), 1u);
}

TEST_F(AtHomeWithGraph, AHostThatDoesNotHaveTheTaskFillsNoDisk) {
  begin_graph({{"a", 1, {}, true}, {"b", 1, {0}, true}, {"c", 1, {1}}});
  claim();
  end(1, 0, {file_of("out", "bytes")});
  EXPECT_TRUE(put_.empty());
}

TEST_F(AtHomeWithGraph, GoesOnAfterARestart) {
  begin_graph({{"a", 2, {}, true}, {"b", 1, {0}}, {"c"}, {"d", 1, {2}}});
  claim();
  end(0, 0, {file_of("out", "bytes")});
  end(3, 5);
  store();
  EXPECT_EQ(home_->ended(), 1u);
  EXPECT_EQ(home_->failed(), 1u);
  take();
  restart();
  EXPECT_EQ(home_->ended(), 1u);
  EXPECT_EQ(home_->skipped_tasks().spans(), (std::vector<TaskSpan>{{4, 1}}));
  EXPECT_EQ(adopted_.size(), 1u);
  EXPECT_EQ(claim(), List{1});
  end(1);
  EXPECT_EQ(given(), List{}) << "the list of task 0 is not on disk yet";
  store();
  EXPECT_EQ(given(), List{2});
  end(2);
  EXPECT_TRUE(home_->over());
}

}  // namespace
}  // namespace home_test
}  // namespace gw::job
