#include "node/embedded/job_file.h"

#include <gmock/gmock.h>

#include "node/embedded/memory_store.h"
#include "os/files/file.h"

namespace gw::node {
namespace {

job::EffectEntry an_entry(std::uint64_t sequence, std::string bytes) {
  job::Effect effect;
  effect.set_thread(job::kMainThread.value());
  effect.set_epoch(1);
  effect.set_sequence(sequence);
  effect.mutable_output()->set_descriptor(1);
  effect.mutable_output()->set_bytes(std::move(bytes));
  wire::set_stream(effect);
  return job::entry_of(effect);
}

class JobFileTest : public testing::Test {
 protected:
  JobFileTest() { spec_.mutable_config()->add_args("program"); }

  static std::vector<std::string> written(JobFile& file) {
    std::vector<std::string> all;
    GW_ASSERT(file.visit_effects([&](const job::Effect& effect) {
      all.push_back(effect.output().bytes());
      return ok();
    }));
    return all;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& item : std::filesystem::directory_iterator(folder_.path())) all.push_back(item.path().filename().string());
    return all;
  }

  os::TempDir folder_ = os::TempDir::make().value();
  const std::filesystem::path path_ = folder_.path() / "job.gwi";
  wire::pb::JobSpec spec_;
  const Bytes module_{0, 'a', 's', 'm'};
};

TEST_F(JobFileTest, HasAllThatWasCommittedAndNothingElse) {
  const Hash256 kept = sha256(as_bytes("kept")), dropped = sha256(as_bytes("dropped"));
  {
    const auto file = JobFile::create(path_, spec_, module_).value();
    const std::vector<DiskAction> first{job::StoreBlob{kept, "kept"}, job::StoreBlob{dropped, "dropped"},
                                        job::Persist{1, {{"a", "1"}, {"ab", "2"}, {"b", "3"}}, {{{}, an_entry(1, "one")}}}, InputTaken{77}};
    ASSERT_TRUE(file->commit(first));
    const std::vector<DiskAction> second{job::Persist{2, {{"b", std::nullopt}}, {{{}, an_entry(2, "")}}}, job::DropRecords{"ab"},
                                         job::DropBlob{dropped}};
    ASSERT_TRUE(file->commit(second));
  }
  EXPECT_THAT(names(), testing::ElementsAre("job.gwi"));
  const auto file = JobFile::open(path_).value();
  EXPECT_EQ(file->spec().config().args(0), "program");
  EXPECT_EQ(file->module(), module_);
  EXPECT_EQ(file->input_taken().value(), 77u);
  EXPECT_EQ(file->load(kept).value(), "kept");
  EXPECT_FALSE(file->load(dropped));
  const peer::Stored stored = file->stored().value();
  EXPECT_THAT(stored.records, testing::ElementsAre(testing::Pair("a", "1")));
  EXPECT_EQ(stored.effects({}).value().size(), 2u);
  EXPECT_THAT(written(*file), testing::ElementsAre("one", ""));
}

TEST_F(JobFileTest, KeepsNoDetailsForAnApi) {
  const auto file = JobFile::create(path_, spec_, module_).value();
  job::EffectEntry details = an_entry(2, "threads");
  details.header.kind = job::EffectKind::details;
  const std::vector<DiskAction> actions{job::Persist{1, {}, {{{}, an_entry(1, "one")}, {{}, details}}}};
  ASSERT_TRUE(file->commit(actions));
  EXPECT_THAT(written(*file), testing::ElementsAre("one"));
}

TEST_F(JobFileTest, CountsItsLives) {
  EXPECT_EQ(JobFile::create(path_, spec_, module_).value()->raise_boot().value(), 1u);
  EXPECT_EQ(JobFile::open(path_).value()->raise_boot().value(), 2u);
}

TEST_F(JobFileTest, NeverReplacesAFileUnlessAskedTo) {
  ASSERT_TRUE(os::write_file_atomic(path_, as_bytes("mine"), os::Durability::unflushed));
  EXPECT_EQ(JobFile::create(path_, spec_, module_).error().kind, Kind::invalid);
  EXPECT_EQ(as_text(os::read_file(path_, 100).value()), "mine");
  ASSERT_TRUE(JobFile::replace(path_, spec_, module_, [](JobFile&) { return ok(); }));
  EXPECT_TRUE(JobFile::open(path_));
  EXPECT_THAT(names(), testing::ElementsAre("job.gwi"));
}

TEST_F(JobFileTest, IsToldApartFromImagesAndOtherDatabases) {
  {
    const auto file = JobFile::create(path_, spec_, module_).value();
  }
  EXPECT_TRUE(JobFile::is_job_file(os::read_head(path_, JobFile::kHeadBytes).value()));
  Bytes other = os::read_file(path_, 1u << 20).value();
  other[68] ^= 1;  // the application that the database is of
  EXPECT_FALSE(JobFile::is_job_file(other));
  EXPECT_FALSE(JobFile::is_job_file(as_bytes("GWIMAGE")));
}

TEST_F(JobFileTest, BelongsToOneProcessAtATime) {
  const auto file = JobFile::create(path_, spec_, module_).value();
  EXPECT_EQ(JobFile::open(path_).error().kind, Kind::overloaded);
}

TEST_F(JobFileTest, FindsAChangedByte) {
  {
    const auto file = JobFile::create(path_, spec_, module_).value();
    const std::vector<DiskAction> actions{job::Persist{1, {{"key", "a value to be found"}}, {{{}, an_entry(1, "output to be found")}}}};
    ASSERT_TRUE(file->commit(actions));
  }
  for (const std::string_view damaged : {"a value to be found", "output to be found", "program"}) {
    Bytes bytes = os::read_file(path_, 1u << 20).value();
    const std::size_t at = as_text(bytes).find(damaged);
    ASSERT_NE(at, std::string::npos);
    bytes[at] ^= 1;
    const auto copy = folder_.path() / "damaged.gwi";
    ASSERT_TRUE(os::write_file_atomic(copy, bytes, os::Durability::unflushed));
    const auto file = JobFile::open(copy);
    const bool found = !file || !(*file)->stored() || !(*file)->visit_effects([](const job::Effect&) { return ok(); });
    EXPECT_TRUE(found) << damaged;
  }
}

TEST_F(JobFileTest, AStoreInMemoryBecomesAFileWithTheSameHistory) {
  MemoryStore memory;
  const job::ThreadId child = job::child_of(job::kMainThread, 1);
  job::Effect spawn;
  spawn.set_thread(job::kMainThread.value());
  spawn.set_epoch(1);
  spawn.set_sequence(1);
  spawn.mutable_spawn()->set_child(child.value());
  wire::set_stream(spawn);
  job::EffectEntry of_child = an_entry(1, "child");
  of_child.header.thread = child;
  const std::vector<DiskAction> actions{job::Persist{
      1, {{"key", "value"}}, {{{}, an_entry(1, "one")}, {{}, job::entry_of(spawn)}, {{}, of_child}, {{}, an_entry(2, "two")}}}};
  ASSERT_TRUE(memory.commit(actions));
  const job::Effect unshown = job::effect_of(an_entry(2, "two")).value();
  ASSERT_TRUE(JobFile::replace(path_, spec_, module_, [&](JobFile& file) { return memory.copy_to(file, {unshown}); }));
  const auto file = JobFile::open(path_).value();
  const auto headers = file->stored().value().effects({}).value();
  ASSERT_EQ(headers.size(), 4u);
  EXPECT_EQ(headers[0].kind, job::EffectKind::spawn) << "before everything that its child does";
  EXPECT_EQ(headers[0].sequence, 1u);
  EXPECT_EQ(headers[0].stream, job::kLogStream);
  EXPECT_THAT(written(*file), testing::ElementsAre("", "", "two", "")) << "only what nobody has seen";
}

TEST_F(JobFileTest, WhatNobodyHasSeenIsTakenOnce) {
  const auto file = JobFile::create(path_, spec_, module_).value();
  EXPECT_TRUE(file->take_unshown().value().empty());
  ASSERT_TRUE(file->leave_unshown({{job::kMainThread, {.sequence = 7, .shown_bytes = 3}}}));
  const auto unshown = file->take_unshown().value();
  ASSERT_TRUE(unshown.contains(job::kMainThread));
  EXPECT_EQ(unshown.at(job::kMainThread).sequence, 7u);
  EXPECT_EQ(unshown.at(job::kMainThread).shown_bytes, 3u);
  EXPECT_TRUE(file->take_unshown().value().empty());
}

}  // namespace
}  // namespace gw::node
