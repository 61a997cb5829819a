// Calls of a guest, as the input says. An even first byte: files, compared with a simple model after each call, the state moved through
// bytes in between. An odd one: any call with any arguments; whatever the guest asks, its state stays one that can be saved and restored.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "file_model.h"
#include "isolate/test/wasi_guest.h"
#include "isolate/wasi/host_imports.h"
#include "tape.h"

namespace {

using namespace gw;           // NOLINT
using namespace gw::isolate;  // NOLINT
using fuzz::FileModel;
using fuzz::ModelNode;
using fuzz::ModelPtr;
using fuzz::Tape;

constexpr std::uint32_t kData = 4096, kDataBytes = 60000;
constexpr auto kRootFd = test::WasiGuest::kRootFd, kOut = test::WasiGuest::kOut, kVector = test::WasiGuest::kVector;
constexpr auto kPath = test::WasiGuest::kPath, kOther = test::WasiGuest::kOther;
constexpr std::size_t kMaxSteps = 400;

void require(bool truth) {
  if (!truth) std::abort();
}

class StillClock final : public HostClock {
 public:
  std::uint64_t now(Clock) override { return time += 1000; }
  std::uint64_t time = 0;
};

// From few names, so that they meet.
std::string next_path(Tape& tape) {
  static const char* const kNames[] = {"a", "b", "c", "d", ".", ".."};
  const std::uint32_t shape = tape.next();
  std::string text = (shape & 1) != 0 ? "/" : "";
  for (std::uint32_t i = 0; i <= shape / 2 % 4; i++) text += (i > 0 ? "/" : "") + std::string(kNames[tape.next() % 6]);
  if ((shape & 16) != 0) text += "/";
  return (shape & 0xe0) == 0xe0 ? "" : text;
}

struct Surroundings {
  StillClock clock;
  NoChunks chunks;
};

struct Guest : Surroundings, test::WasiGuest {
  Guest() : WasiGuest(65536, clock, chunks, {.output_bytes = 1u << 20, .file_bytes = 4u << 20}) {}
};

// --- any call with any arguments

void call_anything(Tape& tape) {
  static constexpr std::uint64_t kSpecial[] = {0,    1,     2,     3,     4,          5,          64,         1000,
                                               4096, 65000, 65535, 65536, 0x7fffffff, 0xffffffff, 1ull << 63, ~0ull};
  Guest guest;
  auto imports = host_imports();
  for (std::size_t step = 0; step < kMaxSteps && !tape.at_end(); step++) {
    const HostImport& import = imports[tape.next() % imports.size()];
    std::uint64_t args[kMaxImportParams];
    for (std::uint64_t& arg : args) arg = (tape.next() & 1) != 0 ? kSpecial[tape.next() % std::size(kSpecial)] : tape.below(65536);
    for (std::uint32_t i = tape.next() % 4; i > 0; i--) guest.bytes[tape.below(65536)] = tape.next();
    if (import.call(*guest.wasi, guest.memory, args).after == After::end) guest.start({});
    if (step % 8 == 7) guest.move();
  }
  guest.move();
}

// --- files, against the model

class Comparison {
 public:
  explicit Comparison(Tape& tape) : tape_(tape) {}

  void run() {
    using Step = void (Comparison::*)();
    static constexpr Step kSteps[] = {&Comparison::open,   &Comparison::open,   &Comparison::close,    &Comparison::write,
                                      &Comparison::write,  &Comparison::read,   &Comparison::seek,     &Comparison::resize,
                                      &Comparison::mkdir,  &Comparison::mkdir,  &Comparison::rmdir,    &Comparison::unlink,
                                      &Comparison::rename, &Comparison::rename, &Comparison::link,     &Comparison::symlink,
                                      &Comparison::stat,   &Comparison::list,   &Comparison::readlink, &Comparison::move};
    for (std::size_t step = 0; step < kMaxSteps && !tape_.at_end(); step++) (this->*kSteps[tape_.next() % std::size(kSteps)])();
  }

 private:
  struct Open {
    ModelPtr node;
    std::uint64_t offset = 0;
    bool appends = false, writes = false;
  };

  Open* some_fd(std::uint32_t& fd) {
    fd = kRootFd + tape_.next() % 6;
    auto found = open_.find(fd);
    return found == open_.end() ? nullptr : &found->second;
  }
  // A directory to start from: the root, or whatever is open.
  ModelPtr start(std::uint32_t& fd) {
    fd = kRootFd;
    if (tape_.next() % 4 != 0) return model_.root();
    Open* found = some_fd(fd);
    if (found != nullptr) return found->node;
    fd = kRootFd;
    return model_.root();
  }
  struct Path {
    std::uint32_t fd, length;
    FileModel::Found found;
    ModelPtr from;
  };
  Path path(FileModel::Last last, std::uint32_t address = kPath) {
    std::uint32_t fd;
    ModelPtr from = start(fd);
    std::string text = next_path(tape_);
    return {fd, guest_.put(address, text), model_.find(from, text, last), from};
  }
  Wasi& wasi() { return *guest_.wasi; }
  static void same(CallResult real, Errno model) { require(real.after == After::proceed && real.code == model); }

  void open() {
    std::uint32_t flags = tape_.next() % 16, wants = tape_.next();
    bool follow = wants % 4 != 0, writes = wants % 3 != 0, appends = wants % 5 == 0;
    bool create = (flags & 1) != 0, directory = (flags & 2) != 0, exclusive = create && (flags & 4) != 0, truncate = (flags & 8) != 0;
    Path at = path(exclusive || !follow ? FileModel::Last::keep : FileModel::Last::follow);
    auto opened = wasi().path_open(guest_.memory, at.fd, follow ? 1 : 0, kPath, at.length, flags,
                                   right::kAll & ~(writes ? 0 : right::kWrite), right::kAll, appends ? 1 : 0, kOut);
    Errno expected = at.found.error;
    if (expected == Errno::success) expected = may_open(at.found, create, directory, exclusive, writes || truncate);
    if (opened.code == Errno::mfile) return;
    same(opened, expected);
    if (expected != Errno::success) return;
    ModelPtr node = at.found.node;
    if (!node) model_.add(at.found, node = std::make_shared<ModelNode>());
    if (truncate) node->data.clear();
    require(open_.emplace(guest_.out(), Open{node, 0, appends, writes}).second);
  }

  static Errno may_open(const FileModel::Found& found, bool create, bool directory, bool exclusive, bool changes) {
    if (create && directory) return Errno::inval;
    if (!found.node) return !create ? Errno::noent : found.slash ? Errno::isdir : Errno::success;
    if (exclusive) return Errno::exist;
    if (found.node->kind == ModelNode::Kind::link) return directory ? Errno::notdir : Errno::loop;
    if (found.node->is_directory()) return create || changes ? Errno::isdir : Errno::success;
    return directory ? Errno::notdir : Errno::success;
  }

  void close() {
    std::uint32_t fd;
    bool known = some_fd(fd) != nullptr;
    if (fd == kRootFd) return;  // everything starts there
    same(wasi().fd_close(guest_.memory, fd), known ? Errno::success : Errno::badf);
    open_.erase(fd);
  }

  void write() {
    std::uint32_t fd;
    Open* file = some_fd(fd);
    std::uint32_t size = tape_.below(kDataBytes) >> tape_.next() % 16;
    std::fill_n(guest_.bytes.begin() + kData, size, tape_.next());
    require(guest_.memory.store(kVector, kData) && guest_.memory.store(kVector + 4, size));
    CallResult written = wasi().fd_write(guest_.memory, fd, kVector, 1, kOut);
    if (written.code == Errno::nospc) return;
    bool possible = file != nullptr && file->writes && !file->node->is_directory();
    same(written, possible ? Errno::success : Errno::badf);
    if (!possible) return;
    auto& data = file->node->data;
    std::uint64_t offset = file->appends ? data.size() : file->offset;
    if (size > 0 && offset + size > data.size()) data.resize(offset + size);
    std::copy_n(guest_.bytes.begin() + kData, size, data.begin() + static_cast<std::ptrdiff_t>(size > 0 ? offset : 0));
    file->offset = offset + size;
  }

  void read() {
    std::uint32_t fd;
    Open* file = some_fd(fd);
    std::uint32_t size = tape_.below(kDataBytes);
    require(guest_.memory.store(kVector, kData) && guest_.memory.store(kVector + 4, size));
    CallResult done = wasi().fd_read(guest_.memory, fd, kVector, 1, kOut);
    same(done, file == nullptr ? Errno::badf : file->node->is_directory() ? Errno::isdir : Errno::success);
    if (done.code != Errno::success) return;
    const auto& data = file->node->data;
    std::uint64_t left = file->offset < data.size() ? data.size() - file->offset : 0;
    require(guest_.out() == std::min<std::uint64_t>(size, left));
    auto from = data.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(file->offset, data.size()));
    require(std::equal(from, from + guest_.out(), guest_.bytes.begin() + kData));
    file->offset += guest_.out();
  }

  void seek() {
    std::uint32_t fd;
    Open* file = some_fd(fd);
    std::uint32_t whence = tape_.next() % 4;
    auto distance = static_cast<std::int64_t>(tape_.below(65536)) * 4 - 100'000;
    CallResult done = wasi().fd_seek(guest_.memory, fd, static_cast<std::uint64_t>(distance), whence, kOut);
    if (file == nullptr || file->node->is_directory()) return same(done, Errno::badf);
    if (whence > 2) return same(done, Errno::inval);
    std::int64_t bases[] = {0, static_cast<std::int64_t>(file->offset), static_cast<std::int64_t>(file->node->data.size())};
    std::int64_t target = bases[whence] + distance;
    same(done, target < 0 ? Errno::inval : Errno::success);
    if (target >= 0) file->offset = static_cast<std::uint64_t>(target);
  }

  void resize() {
    std::uint32_t fd;
    Open* file = some_fd(fd);
    std::uint32_t size = tape_.below(65536) * 3;
    CallResult done = wasi().fd_filestat_set_size(guest_.memory, fd, size);
    if (done.code == Errno::nospc) return;
    same(done, file == nullptr || file->node->is_directory() ? Errno::badf : Errno::success);
    if (done.code == Errno::success) file->node->data.resize(size);
  }

  void mkdir() {
    Path at = path(FileModel::Last::never);
    CallResult done = wasi().path_create_directory(guest_.memory, at.fd, kPath, at.length);
    same(done, at.found.error != Errno::success ? at.found.error : model_.make_directory(at.found));
  }

  void rmdir() {
    Path at = path(FileModel::Last::never);
    CallResult done = wasi().path_remove_directory(guest_.memory, at.fd, kPath, at.length);
    same(done, at.found.error != Errno::success ? at.found.error : model_.remove_directory(at.found));
  }

  void unlink() {
    Path at = path(FileModel::Last::never);
    CallResult done = wasi().path_unlink_file(guest_.memory, at.fd, kPath, at.length);
    same(done, at.found.error != Errno::success ? at.found.error : model_.unlink(at.found));
  }

  void rename() {
    Path from = path(FileModel::Last::never), to = path(FileModel::Last::never, kOther);
    CallResult done = wasi().path_rename(guest_.memory, from.fd, kPath, from.length, to.fd, kOther, to.length);
    Errno error = from.found.error != Errno::success ? from.found.error : to.found.error;
    same(done, error != Errno::success ? error : model_.rename(from.found, to.found));
  }

  void link() {
    Path from = path(FileModel::Last::follow), to = path(FileModel::Last::never, kOther);
    CallResult done = wasi().path_link(guest_.memory, from.fd, 1, kPath, from.length, to.fd, kOther, to.length);
    Errno error = from.found.error != Errno::success ? from.found.error : !from.found.node ? Errno::noent : to.found.error;
    same(done, error != Errno::success ? error : model_.hard_link(from.found.node, to.found));
  }

  void symlink() {
    std::string target = next_path(tape_);
    std::uint32_t length = guest_.put(kOther, target);
    Path at = path(FileModel::Last::never);
    CallResult done = wasi().path_symlink(guest_.memory, kOther, length, at.fd, kPath, at.length);
    if (target.empty()) return same(done, Errno::noent);
    const bool leads_out = target.starts_with('/') && at.from != model_.root();
    same(done, at.found.error != Errno::success ? at.found.error : model_.make_link(at.found, target, leads_out));
  }

  void readlink() {
    Path at = path(FileModel::Last::keep);
    CallResult done = wasi().path_readlink(guest_.memory, at.fd, kPath, at.length, kData, 4096, kOut);
    Errno expected = at.found.error != Errno::success ? at.found.error : !at.found.node ? Errno::noent : Errno::success;
    if (expected == Errno::success && at.found.node->kind != ModelNode::Kind::link) expected = Errno::inval;
    same(done, expected);
    if (expected != Errno::success) return;
    const std::string& target = at.found.node->target;
    require(guest_.out() == target.size() && std::equal(target.begin(), target.end(), guest_.bytes.begin() + kData));
  }

  void stat() {
    bool follow = tape_.next() % 2 != 0;
    Path at = path(follow ? FileModel::Last::follow : FileModel::Last::keep);
    CallResult done = wasi().path_filestat_get(guest_.memory, at.fd, follow ? 1 : 0, kPath, at.length, kData);
    same(done, at.found.error != Errno::success ? at.found.error : !at.found.node ? Errno::noent : Errno::success);
    if (done.code != Errno::success) return;
    const ModelNode& node = *at.found.node;
    static constexpr std::uint8_t kTypes[] = {4, 3, 7};
    require(guest_.bytes[kData + 16] == kTypes[static_cast<int>(node.kind)]);
    std::uint64_t size = node.is_directory() ? 0 : std::max(node.data.size(), node.target.size());
    require(guest_.memory.get<std::uint64_t>(kData + 32) == size);
    if (!node.is_directory()) require(guest_.memory.get<std::uint64_t>(kData + 24) == static_cast<std::uint64_t>(node.names));
  }

  void list() {
    std::uint32_t fd;
    Open* open = some_fd(fd);
    std::map<std::string, int> seen;
    std::uint64_t cookie = 0;
    for (int step = 0; step < 200; step++) {
      CallResult done = wasi().fd_readdir(guest_.memory, fd, kData, 300, cookie, kOut);
      same(done, open == nullptr ? Errno::badf : open->node->is_directory() ? Errno::success : Errno::notdir);
      if (done.code != Errno::success) return;
      std::uint32_t used = guest_.out(), at = 0;
      while (at + 24 <= used && at + 24 + guest_.memory.get<std::uint32_t>(kData + at + 16) <= used) {
        std::uint32_t length = guest_.memory.get<std::uint32_t>(kData + at + 16);
        seen[std::string(guest_.bytes.begin() + kData + at + 24, guest_.bytes.begin() + kData + at + 24 + length)]++;
        cookie = guest_.memory.get<std::uint64_t>(kData + at);
        at += 24 + length;
      }
      if (used < 300) break;
    }
    std::map<std::string, int> expected;
    if (open->node->parent.lock()) expected = {{".", 1}, {"..", 1}};
    for (const auto& [name, node] : open->node->list) expected[name] = 1;
    require(seen == expected);
  }

  void move() { guest_.move(); }

  Tape& tape_;
  Guest guest_;
  FileModel model_;
  std::map<std::uint32_t, Open> open_ = {{kRootFd, Open{model_.root()}}};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Tape tape(ByteView(data, size));
  if (tape.next() % 2 != 0) {
    call_anything(tape);
  } else {
    Comparison(tape).run();
  }
  return 0;
}
