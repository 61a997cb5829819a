// The calls about files, as a guest makes them.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "isolate/files/file_tree_builder.h"
#include "isolate/test/wasi_guest.h"

namespace gw::isolate {
namespace {

constexpr std::uint32_t kCreate = 1, kExclusive = 4, kTruncate = 8, kFollow = 1;
constexpr std::uint32_t kData = 0x10000;

class FixedClock final : public HostClock {
 public:
  std::uint64_t now(Clock) override { return time; }

  std::uint64_t time = 5'000'000;
};

// Has what it was given by hash; the rest has not come yet.
class PartialChunks final : public ChunkSource {
 public:
  Result<std::optional<std::shared_ptr<const Bytes>>> chunk(const Hash256& hash) override {
    asked++;
    auto found = here.find(hash);
    if (found == here.end()) return std::optional<std::shared_ptr<const Bytes>>();
    return std::optional(found->second);
  }
  void wait(std::chrono::milliseconds) override {}

  std::map<Hash256, std::shared_ptr<const Bytes>> here;
  int asked = 0;
};

struct Surroundings {
  FixedClock clock;
  PartialChunks chunks;
};

class WasiFilesTest : public ::testing::Test, protected Surroundings, protected test::WasiGuest {
 protected:
  WasiFilesTest() : WasiGuest(4u << 20, clock, chunks, {.file_bytes = 4u << 20}) {}

  void start_with(const std::vector<InputEntry>& inputs) {
    FileTreeBuilder builder;
    ASSERT_TRUE(builder.add_inputs(inputs));
    WasiState state;
    state.files = builder.take();
    state.descriptors = DescriptorTable::standard(state.files);
    start(std::move(state));
  }
  Errno open(std::string_view path, std::uint32_t flags = 0, std::uint64_t rights = right::kAll & ~right::kWrite,
             std::uint32_t fd_flags = 0, std::uint32_t from = kRootFd) {
    return wasi->path_open(memory, from, kFollow, kPath, put(kPath, path), flags, rights, right::kAll, fd_flags, kOut).code;
  }
  std::uint32_t must_open(std::string_view path, std::uint32_t flags = 0, std::uint64_t rights = right::kAll & ~right::kWrite) {
    EXPECT_EQ(open(path, flags, rights), Errno::success) << path;
    return out();
  }
  Errno write(std::uint32_t fd, std::string_view text) {
    EXPECT_TRUE(memory.store(kVector, kData) && memory.store(kVector + 4, put(kData, text)));
    return wasi->fd_write(memory, fd, kVector, 1, kOut).code;
  }
  CallResult read_call(std::uint32_t fd, std::uint32_t size) {
    EXPECT_TRUE(memory.store(kVector, kData) && memory.store(kVector + 4, size));
    return wasi->fd_read(memory, fd, kVector, 1, kOut);
  }
  std::string read(std::uint32_t fd, std::uint32_t size) {
    CallResult result = read_call(fd, size);
    EXPECT_EQ(result.code, Errno::success);
    return {bytes.begin() + kData, bytes.begin() + kData + out()};
  }
  // Names from a cookie on, as many as fit, and the cookie after the last.
  std::vector<std::string> names(std::uint32_t fd, std::uint64_t& cookie, std::uint32_t room) {
    EXPECT_EQ(wasi->fd_readdir(memory, fd, kData, room, cookie, kOut).code, Errno::success);
    std::vector<std::string> list;
    for (std::uint32_t at = 0; at + 24 <= out();) {
      auto length = memory.get<std::uint32_t>(kData + at + 16);
      if (at + 24 + length > out()) break;
      list.emplace_back(bytes.begin() + kData + at + 24, bytes.begin() + kData + at + 24 + length);
      cookie = memory.get<std::uint64_t>(kData + at);
      at += 24 + length;
    }
    return list;
  }
};

TEST_F(WasiFilesTest, TellsOfTheRoot) {
  EXPECT_EQ(wasi->fd_prestat_get(memory, kRootFd, kOut).code, Errno::success);
  EXPECT_EQ(memory.get<std::uint32_t>(kOut + 4), 1u);
  EXPECT_EQ(wasi->fd_prestat_dir_name(memory, kRootFd, kPath, 1).code, Errno::success);
  EXPECT_EQ(bytes[kPath], '/');
  EXPECT_EQ(wasi->fd_prestat_dir_name(memory, kRootFd, kPath, 0).code, Errno::nametoolong);
  EXPECT_EQ(wasi->fd_prestat_get(memory, 4, kOut).code, Errno::badf);
  EXPECT_EQ(wasi->fd_prestat_get(memory, 0, kOut).code, Errno::badf);
}

TEST_F(WasiFilesTest, GivesTheLowestNumberThatIsFree) {
  EXPECT_EQ(must_open("a", kCreate), 4u);
  EXPECT_EQ(must_open("b", kCreate), 5u);
  EXPECT_EQ(wasi->fd_close(memory, 4).code, Errno::success);
  EXPECT_EQ(wasi->fd_close(memory, 0).code, Errno::success);
  EXPECT_EQ(must_open("a"), 0u);
  EXPECT_EQ(must_open("a"), 4u);
  for (std::uint32_t i = 6; i < DescriptorTable::kMax; i++) ASSERT_EQ(must_open("a"), i);
  EXPECT_EQ(open("a"), Errno::mfile);
  EXPECT_EQ(open("new", kCreate), Errno::mfile);
  wasi->fd_close(memory, 77);
  EXPECT_EQ(open("new"), Errno::noent);  // and it was not made
}

TEST_F(WasiFilesTest, RedirectsAStreamToAFile) {
  std::uint32_t fd = must_open("log", kCreate, right::kAll);
  EXPECT_EQ(wasi->fd_renumber(memory, fd, 1).code, Errno::success);
  EXPECT_EQ(write(1, "into the file"), Errno::success);
  EXPECT_EQ(output.text(), "");
  EXPECT_EQ(wasi->fd_renumber(memory, fd, 1).code, Errno::badf);
  EXPECT_EQ(read(must_open("log"), 100), "into the file");
}

TEST_F(WasiFilesTest, ShrinksRightsAndKeepsToThem) {
  std::uint32_t fd = must_open("f", kCreate, right::kAll);
  EXPECT_EQ(wasi->fd_fdstat_set_rights(memory, fd, right::kAll & ~right::kWrite & ~right::kSeek, 0).code, Errno::success);
  EXPECT_EQ(write(fd, "x"), Errno::badf);
  EXPECT_EQ(wasi->fd_seek(memory, fd, 0, 0, kOut).code, Errno::notcapable);
  EXPECT_EQ(wasi->fd_fdstat_set_rights(memory, fd, right::kAll, 0).code, Errno::notcapable);
}

TEST_F(WasiFilesTest, GivesADirectoryNoRightsOfFiles) {
  ASSERT_EQ(wasi->path_create_directory(memory, kRootFd, kPath, put(kPath, "d")).code, Errno::success);
  for (const std::uint32_t fd : {kRootFd, must_open("d")}) {
    ASSERT_EQ(wasi->fd_fdstat_get(memory, fd, kData).code, Errno::success);
    EXPECT_EQ(memory.get<std::uint64_t>(kData + 8) & (right::kSeek | right::kTell | right::kWrite | right::kSetSize), 0u);
    EXPECT_EQ(wasi->fd_seek(memory, fd, 0, 0, kOut).code, Errno::badf);
    EXPECT_EQ(wasi->fd_filestat_set_size(memory, fd, 0).code, Errno::badf);
  }
}

TEST_F(WasiFilesTest, OpensOnlyWithTheRightsOfTheDirectory) {
  ASSERT_EQ(write(must_open("f", kCreate, right::kAll), "text"), Errno::success);
  std::uint32_t fd = must_open("/");
  const auto allow = [&](std::uint64_t rights, std::uint64_t inheriting) {
    ASSERT_EQ(wasi->fd_fdstat_set_rights(memory, fd, rights, inheriting).code, Errno::success);
  };
  const auto open_f = [&](std::uint32_t flags, std::uint64_t rights, std::uint64_t inheriting) {
    return wasi->path_open(memory, fd, kFollow, kPath, put(kPath, "f"), flags, rights, inheriting, 0, kOut).code;
  };
  allow(right::kOfDirectories & ~right::kPathSetSize, right::kAll);
  EXPECT_EQ(open_f(kTruncate, right::kAll, 0), Errno::notcapable);
  EXPECT_EQ(read(must_open("f"), 10), "text");
  EXPECT_EQ(open_f(kCreate, right::kAll, 0), Errno::success);
  allow(right::kOpen, right::kRead | right::kSeek);
  EXPECT_EQ(open_f(kCreate, right::kRead, 0), Errno::notcapable);
  EXPECT_EQ(open_f(0, right::kRead | right::kWrite, 0), Errno::notcapable);
  EXPECT_EQ(open_f(0, right::kRead, right::kWrite), Errno::notcapable);
  EXPECT_EQ(open_f(0, right::kRead, right::kRead), Errno::success);
}

TEST_F(WasiFilesTest, LinksOfADirectoryDescriptorStayInIt) {
  ASSERT_EQ(wasi->path_create_directory(memory, kRootFd, kPath, put(kPath, "d")).code, Errno::success);
  std::uint32_t fd = must_open("d");
  const auto symlink = [&](std::string_view target, std::uint32_t from, std::string_view name) {
    return wasi->path_symlink(memory, kOther, put(kOther, target), from, kPath, put(kPath, name)).code;
  };
  EXPECT_EQ(symlink("/", fd, "root"), Errno::perm);
  EXPECT_EQ(symlink("/etc", kRootFd, "d/root"), Errno::success) << "from the root nothing is outside";
  EXPECT_EQ(open("..", 0, right::kRead, 0, fd), Errno::perm);
  EXPECT_EQ(open("/", 0, right::kRead, 0, fd), Errno::perm);
  EXPECT_EQ(open("root", 0, right::kRead, 0, fd), Errno::perm);
}

TEST_F(WasiFilesTest, TimesOfFilesAreOfTodayBeforeTheGuestReadsAClock) {
  clock.time = 1'700'000'000'000'000'000;
  must_open("first", kCreate);
  ASSERT_EQ(write(must_open("second", kCreate, right::kAll), "x"), Errno::success);
  const auto modified = [&](std::string_view path) {
    EXPECT_EQ(wasi->path_filestat_get(memory, kRootFd, kFollow, kPath, put(kPath, path), kData).code, Errno::success);
    return memory.get<std::uint64_t>(kData + 48);
  };
  EXPECT_LE(modified("second"), clock.time);
  EXPECT_GT(modified("first"), clock.time - 1000);
  EXPECT_LT(modified("first"), modified("second"));
  clock.time += 1'000'000'000;
  EXPECT_LT(modified("second"), clock.time - 900'000'000) << "the clock is read once";
}

TEST_F(WasiFilesTest, AnswersWhenTheTreeIsFull) {
  std::uint32_t fd = must_open("f", kCreate, right::kAll);
  EXPECT_EQ(wasi->fd_filestat_set_size(memory, fd, 1ull << 40).code, Errno::nospc);
  EXPECT_EQ(wasi->fd_allocate(memory, fd, 0, 4u << 20).code, Errno::success);
  EXPECT_EQ(wasi->fd_seek(memory, fd, 0, 2, kOut).code, Errno::success);
  EXPECT_EQ(write(fd, "x"), Errno::nospc);
  EXPECT_EQ(wasi->fd_seek(memory, fd, static_cast<std::uint64_t>(-1), 2, kOut).code, Errno::success);
  EXPECT_EQ(write(fd, "x"), Errno::success);
}

TEST_F(WasiFilesTest, ReadsADirectoryInStepsAcrossChangesAndMoves) {
  for (char name = 'a'; name < 'k'; name++) must_open(std::string(1, name), kCreate);
  std::uint32_t fd = must_open(".");
  std::uint64_t cookie = 0;
  std::vector<std::string> seen;
  for (int step = 0;; step++) {
    auto some = names(fd, cookie, 60);  // two at a time
    if (some.empty()) break;
    seen.insert(seen.end(), some.begin(), some.end());
    if (step == 2) {
      EXPECT_EQ(wasi->path_unlink_file(memory, kRootFd, kPath, put(kPath, "b")).code, Errno::success);
      EXPECT_EQ(wasi->path_unlink_file(memory, kRootFd, kPath, put(kPath, "h")).code, Errno::success);
      EXPECT_EQ(wasi->path_rename(memory, kRootFd, kPath, put(kPath, "a"), kRootFd, kOther, put(kOther, "i")).code, Errno::success);
      must_open("new", kCreate);
    }
    move();
  }
  EXPECT_EQ(seen, (std::vector<std::string>{".", "..", "a", "b", "c", "d", "e", "f", "g", "i", "j", "new"}));
}

TEST_F(WasiFilesTest, KeepsEverythingOpenAcrossAMove) {
  std::uint32_t fd = must_open("f", kCreate, right::kAll);
  EXPECT_EQ(write(fd, "hello"), Errno::success);
  EXPECT_EQ(wasi->fd_seek(memory, fd, 1, 0, kOut).code, Errno::success);
  EXPECT_EQ(wasi->path_unlink_file(memory, kRootFd, kPath, put(kPath, "f")).code, Errno::success);
  move();
  EXPECT_EQ(read(fd, 3), "ell");
  EXPECT_EQ(open("f"), Errno::noent);
  EXPECT_EQ(wasi->fd_close(memory, fd).code, Errno::success);
  EXPECT_EQ(wasi->files().pages(), 0u);
}

TEST_F(WasiFilesTest, OpensAsAsked) {
  EXPECT_EQ(open("x", kCreate | kExclusive), Errno::success);
  EXPECT_EQ(open("x", kCreate | kExclusive), Errno::exist);
  EXPECT_EQ(open("y/", kCreate), Errno::isdir);
  EXPECT_EQ(open("../../x"), Errno::success);
  EXPECT_EQ(open("/x"), Errno::success);
  EXPECT_EQ(open("x", 0, right::kRead, 0, 1), Errno::notdir);
  EXPECT_EQ(open("x", 0, right::kRead, 0, 99), Errno::badf);
  EXPECT_EQ(open("x", 16), Errno::inval);
  EXPECT_EQ(open("x", 0, right::kRead, 32), Errno::inval);
}

// --- input files

Bytes pattern(std::size_t size) {
  Bytes content(size);
  for (std::size_t i = 0; i < size; i++) content[i] = static_cast<std::uint8_t>(i * 7 + i / 1000);
  return content;
}

InputEntry entry_of(std::string path, ByteView content) {
  InputEntry entry{.path = std::move(path), .size = content.size(), .mtime_ns = 9};
  for (std::size_t at = 0; at < content.size(); at += kChunkBytes)
    entry.chunks.push_back(sha256(content.subspan(at, std::min<std::size_t>(kChunkBytes, content.size() - at))));
  return entry;
}

class WasiInputTest : public WasiFilesTest {
 protected:
  WasiInputTest() { start_with({entry}); }
  void arrive(std::size_t index) {
    auto part = ByteView(content).subspan(index * kChunkBytes);
    part = part.first(std::min<std::size_t>(part.size(), kChunkBytes));
    chunks.here[entry.chunks[index]] = std::make_shared<const Bytes>(part.begin(), part.end());
  }

  Bytes content = pattern(2 * kChunkBytes + 500);
  InputEntry entry = entry_of("data/set", content);
};

TEST_F(WasiInputTest, WaitsForThePartsOfAReadAndCopiesEachOnce) {
  std::uint32_t fd = must_open("data/set");
  auto read_all = [&] { return read_call(fd, 3u << 20); };
  EXPECT_EQ(read_all().after, After::park);
  EXPECT_EQ(std::get<AwaitChunk>(wasi->waiting()).hash, entry.chunks[0]);
  arrive(1), arrive(2);
  EXPECT_EQ(read_all().after, After::park);
  arrive(0);
  chunks.here.erase(entry.chunks[2]);
  EXPECT_EQ(read_all().after, After::park);
  EXPECT_EQ(std::get<AwaitChunk>(wasi->waiting()).hash, entry.chunks[2]);
  move();
  chunks.here.clear();  // what has been copied is not asked for again
  arrive(2);
  EXPECT_EQ(read_all().after, After::proceed);
  EXPECT_EQ(out(), content.size());
  EXPECT_TRUE(std::equal(content.begin(), content.end(), bytes.begin() + kData));
  EXPECT_EQ(wasi->saved_state().parked, ParkedCall::none);
  EXPECT_EQ(wasi->saved_state().progress, 0u);
  EXPECT_EQ(read(fd, 10), "");
}

TEST_F(WasiInputTest, KeepsPartsThatAreReadInSmallSteps) {
  arrive(0), arrive(1), arrive(2);
  std::uint32_t fd = must_open("data/set");
  std::string all;
  for (std::string part; !(part = read(fd, 100'000)).empty();) all += part;
  EXPECT_EQ(all, as_text(content));
  EXPECT_EQ(chunks.asked, 3);
}

TEST_F(WasiInputTest, EndsTheGuestWhenAFileHasChanged) {
  chunks.here[entry.chunks[0]] = std::make_shared<const Bytes>(kChunkBytes, 'x');
  std::uint32_t fd = must_open("data/set");
  EXPECT_EQ(read_call(fd, 10).after, After::end);
  EXPECT_NE(describe(wasi->ending()).find("the file has changed"), std::string::npos);
}

TEST_F(WasiInputTest, CannotBeWritten) {
  EXPECT_EQ(open("data/set", 0, right::kRead | right::kWrite), Errno::rofs);
  EXPECT_EQ(open("data/set", kTruncate), Errno::rofs);
  std::uint32_t fd = must_open("data/set");
  EXPECT_EQ(wasi->fd_filestat_set_size(memory, fd, 0).code, Errno::rofs);
  EXPECT_EQ(wasi->fd_allocate(memory, fd, 0, 9u << 20).code, Errno::rofs);
  EXPECT_EQ(wasi->fd_filestat_set_times(memory, fd, 1, 1, 5).code, Errno::rofs);
  EXPECT_EQ(wasi->path_unlink_file(memory, kRootFd, kPath, put(kPath, "data/set")).code, Errno::rofs);
  EXPECT_EQ(wasi->fd_filestat_get(memory, fd, kData).code, Errno::success);
  EXPECT_EQ(memory.get<std::uint64_t>(kData + 32), content.size());
  EXPECT_EQ(memory.get<std::uint64_t>(kData + 48), 9u);
}

TEST_F(WasiFilesTest, SetsTimesToNowByTheClockOfTheGuest) {
  std::uint32_t fd = must_open("f", kCreate);
  EXPECT_EQ(wasi->fd_filestat_set_times(memory, fd, 123, 0, 1 | 8).code, Errno::success);
  EXPECT_EQ(wasi->fd_filestat_get(memory, fd, kData).code, Errno::success);
  EXPECT_EQ(memory.get<std::uint64_t>(kData + 40), 123u);
  EXPECT_EQ(memory.get<std::uint64_t>(kData + 48), 5'000'000u);
  EXPECT_EQ(wasi->fd_filestat_set_times(memory, fd, 0, 0, 1 | 2).code, Errno::inval);
}

TEST_F(WasiFilesTest, TakesAtMostSixtyFourKibibytesOfOutputAtOnce) {
  limits.output_bytes = 1u << 20;
  start({});
  EXPECT_EQ(write(1, std::string(100'000, 'x')), Errno::success);
  EXPECT_EQ(out(), 65536u);
  EXPECT_EQ(output.text().size(), 65536u);
}

// A task of an array: its own files and standard input on top of those that all tasks have, and nothing of them afterwards.
class WasiStartTest : public WasiFilesTest {
 protected:
  InputEntry file(const std::string& path, const std::string& content) {
    const Hash256 hash = sha256(as_bytes(content));
    chunks.here[hash] = std::make_shared<const Bytes>(content.begin(), content.end());
    return {.path = path, .size = content.size(), .mtime_ns = 7, .chunks = {hash}, .target = ""};
  }
};

TEST_F(WasiStartTest, ATaskHasItsFilesUntilItIsPutBack) {
  start_with({file("common", "for all")});
  const WasiState frozen = wasi->saved_state();
  wasi->follow_changes();
  for (const std::string name : {"one", "two"}) {
    GuestStart begins{.args = {name},
                      .env = {},
                      .inputs = {file("in/" + name, "only " + name)},
                      .outputs = {"out/" + name + "/"},
                      .standard_input = file("stdin", "input of " + name)};
    ASSERT_TRUE(wasi->set_start(begins));
    EXPECT_EQ(read(must_open("in/" + name), 100), "only " + name);
    EXPECT_EQ(read(must_open("common"), 100), "for all");
    EXPECT_EQ(open("in/" + std::string(name == "one" ? "two" : "one")), Errno::noent);
    EXPECT_EQ(read(0, 5), "input");
    EXPECT_EQ(read(0, 100), " of " + name) << "it goes on where it was";
    EXPECT_EQ(read(0, 100), "");
    const std::uint32_t made = must_open("out/" + name + "/made", kCreate, right::kAll);
    EXPECT_EQ(write(made, "x"), Errno::success);
    EXPECT_EQ(wasi->saved_state().outputs, std::vector<std::string>{"out/" + name + "/"});
    move();  // an image of it has everything, also the file without a name
    wasi->follow_changes();
    EXPECT_EQ(wasi->fd_seek(memory, 0, 0, 0, kOut).code, Errno::success);
    EXPECT_EQ(read(0, 100), "input of " + name);
    start(frozen);
    wasi->follow_changes();
  }
}

TEST_F(WasiStartTest, PuttingBackUndoesAStart) {
  start_with({file("common", "for all")});
  const WasiState frozen = wasi->saved_state();
  wasi->follow_changes();
  const Bytes before = encode(frozen);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(wasi->set_start({.args = {"a"}, .env = {}, .inputs = {file("in/x", "x")}, .standard_input = file("stdin", "y")}));
    EXPECT_EQ(read(0, 1), "y");
    wasi->put_back(frozen);
    EXPECT_EQ(encode(wasi->saved_state()), before);
  }
}

TEST_F(WasiStartTest, AStartThatDoesNotFitIsRefusedAndUndone) {
  start_with({file("in/x", "common")});
  const WasiState frozen = wasi->saved_state();
  wasi->follow_changes();
  EXPECT_FALSE(wasi->set_start({.args = {}, .env = {}, .inputs = {file("in/new", "n"), file("in/x", "again")}}));
  wasi->put_back(frozen);
  EXPECT_EQ(encode(wasi->saved_state()), encode(frozen));
  InputEntry folder{.path = "stdin", .type = NodeType::directory, .chunks = {}, .target = ""};
  EXPECT_FALSE(wasi->set_start({.args = {}, .env = {}, .standard_input = folder}));
}

}  // namespace
}  // namespace gw::isolate
