#include "node/disk/record_store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "os/files/file.h"

namespace gw::node {
namespace {

namespace fs = std::filesystem;
using job::Record;

class RecordStoreTest : public testing::Test {
 protected:
  RecordStore open() { return RecordStore::open(file_).value(); }
  // Writes over every place in the database file where `from` stands.
  void damage(const std::string& from, const std::string& to) {
    Bytes bytes = os::read_file(file_, 1u << 24).value();
    std::string text(as_text(bytes));
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) text.replace(at, to.size(), to);
    std::ofstream(file_, std::ios::binary) << text;
  }

  os::TempDir folder_ = os::TempDir::make().value();
  fs::path file_ = folder_.path() / "records.db";
};

RecordStore::Batch batch(std::vector<Record> records) { return {.records = std::move(records)}; }

TEST_F(RecordStoreTest, TheLastValueCountsAndSurvives) {
  const std::string binary("a\0b", 3);
  {
    RecordStore store = open();
    const std::vector<RecordStore::Batch> first{batch({{"key", "old"}, {"gone", "x"}, {binary, ""}})};
    ASSERT_TRUE(store.commit(first));
    const std::vector<RecordStore::Batch> second{batch({{"key", "new"}}), batch({{"gone", std::nullopt}})};
    ASSERT_TRUE(store.commit(second));
  }
  RecordStore store = open();
  EXPECT_EQ(store.load().value().records, (RecordStore::Records{{"key", "new"}, {binary, ""}}));
  EXPECT_EQ(store.read("key").value(), "new");
  EXPECT_EQ(store.read("gone").error().kind, Kind::not_found);
}

TEST_F(RecordStoreTest, DropsAllKeysThatBeginSo) {
  RecordStore store = open();
  const std::string prefix("E\xff", 2);
  const std::vector<RecordStore::Batch> batches{batch({{prefix, "1"}, {prefix + "\xff", "2"}, {prefix + std::string(1, '\0'), "3"}}),
                                                {.dropped_prefix = prefix},
                                                batch({{prefix + "later", "4"}, {"E", "5"}, {"F", "6"}})};
  ASSERT_TRUE(store.commit(batches));
  EXPECT_EQ(store.load().value().records, (RecordStore::Records{{prefix + "later", "4"}, {"E", "5"}, {"F", "6"}}));
}

TEST_F(RecordStoreTest, EveryLifeHasAHigherNumber) {
  EXPECT_EQ(open().raise_boot().value(), 1u);
  EXPECT_EQ(open().raise_boot().value(), 2u);
  RecordStore store = open();
  EXPECT_EQ(store.raise_boot().value(), 3u);
  EXPECT_EQ(store.raise_boot().value(), 4u);
}

TEST_F(RecordStoreTest, AChangedByteIsFound) {
  {
    RecordStore store = open();
    const std::vector<RecordStore::Batch> batches{batch({{"key", "a value of some length"}, {"other", "whole"}})};
    ASSERT_TRUE(store.commit(batches));
  }
  damage("some length", "some lenght");
  RecordStore store = open();
  const RecordStore::Loaded loaded = store.load().value();
  EXPECT_EQ(loaded.damaged, std::vector<std::string>{"key"});
  EXPECT_EQ(loaded.records, (RecordStore::Records{{"other", "whole"}}));
  EXPECT_EQ(store.read("key").error().kind, Kind::corrupt);
}

TEST_F(RecordStoreTest, ADatabaseThatIsNoneIsRefusedWithASentence) {
  std::ofstream(file_) << std::string(8192, 'x');
  auto opened = RecordStore::open(file_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, Kind::corrupt);
  EXPECT_NE(opened.error().detail.find("damaged"), std::string::npos) << opened.error().detail;
}

TEST_F(RecordStoreTest, ATornDatabaseIsRefused) {
  {
    RecordStore store = open();
    std::vector<Record> records;
    for (int i = 0; i < 2000; ++i) records.push_back({"key" + std::to_string(i), std::string(50, 'v')});
    const std::vector<RecordStore::Batch> batches{batch(std::move(records))};
    ASSERT_TRUE(store.commit(batches));
  }
  fs::resize_file(file_, fs::file_size(file_) / 2);
  auto opened = RecordStore::open(file_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, Kind::corrupt);
}

// The child writes batches of ten records, each with the number of the batch, as fast as it can, and reports each committed batch.
[[noreturn]] void write_for_ever(const fs::path& file, int report) {
  auto store = RecordStore::open(file);
  for (std::uint32_t number = 1; store; ++number) {
    std::vector<Record> records;
    for (int i = 0; i < 10; ++i) records.push_back({"key" + std::to_string(i), std::to_string(number)});
    const std::vector<RecordStore::Batch> batches{batch(std::move(records))};
    if (!store->commit(batches)) break;
    if (::write(report, &number, sizeof number) != sizeof number) break;
  }
  ::_exit(1);
}

TEST_F(RecordStoreTest, KilledInTheMiddleABatchIsThereWholeOrNotAtAll) {
  (void)open();
  for (int round = 0; round < 4; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) write_for_ever(file_, ends[1]);
    ::close(ends[1]);
    std::uint32_t acknowledged = 0;
    while (acknowledged < 20u + static_cast<std::uint32_t>(round) &&
           ::read(ends[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) {
    }
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    std::uint32_t more = 0;
    while (::read(ends[0], &more, sizeof more) == sizeof more) acknowledged = more;
    ::close(ends[0]);
    ASSERT_GE(acknowledged, 20u);

    const auto records = open().load().value().records;
    ASSERT_EQ(records.size(), 10u);
    for (const auto& [key, value] : records) EXPECT_EQ(value, records.begin()->second) << "a batch is there in part";
    EXPECT_GE(std::stoul(records.begin()->second), acknowledged);
  }
}

}  // namespace
}  // namespace gw::node
