#pragma once
// The files of one guest: a tree of its own in memory, with no way to any other.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/hash.h"
#include "isolate/files/file_content.h"
#include "isolate/files/input_files.h"
#include "isolate/wasi/wasi_errno.h"

namespace gw::isolate {

using Inode = std::uint64_t;  // 0 is none

// Names in the order in which they came, so that reading a directory in steps goes on rightly whatever was added or removed meanwhile: a
// cookie is the number of the name after which to go on, and no number is used twice.
struct Directory {
  static constexpr std::uint64_t kSelfCookie = 1, kParentCookie = 2, kFirstCookie = 3;
  struct Entry {
    std::string name;
    Inode node;
  };

  Inode parent = 0;  // of the root: itself; 0: the directory was removed while it was open
  std::uint64_t next_cookie = kFirstCookie;
  std::map<std::uint64_t, Entry> entries;                     // by cookie
  std::map<std::string, std::uint64_t, std::less<>> cookies;  // by name
};

// A file whose content is outside, by hash of each kChunkBytes.
struct InputFile {
  std::uint64_t size = 0;
  std::vector<Hash256> chunks;
};

struct Symlink {
  std::string target;
};

struct Node {
  // read_only: part of the input. Neither it nor, of a directory, its list of names can change.
  enum class Access : std::uint8_t { scratch = 0, read_only = 1 };
  struct Times {  // nanoseconds since 1970
    std::uint64_t accessed = 0, modified = 0, changed = 0;
  };

  std::variant<FileContent, InputFile, Directory, Symlink> content;
  Access access = Access::scratch;
  Times times;
  std::uint32_t names = 0;  // entries that lead to it; the root has one more
  std::uint32_t opens = 0;  // descriptors

  NodeType type() const;
  std::uint64_t size() const;
  bool read_only() const { return access == Access::read_only; }
};

// Nodes by number, and what can be done to them. A value: a copy shares the pages of files until they are written.
//
// Invariants: every node is reached from the root by `names` entries, or is open; a directory has one name at most and no cycle leads
// through it; read-only nodes stay where they are. Operations either happen or change nothing.
//
// Times come from a clock of the tree's own: it is at least the latest wall-clock time the guest has seen, and each change makes it go on
// by one, so that a later change has a later time and no clock has to be read (and recorded) for it. Until the guest has seen the wall
// clock, or the time of a file, times are small numbers, which are moved to the present then.
//
// Belongs to the isolate's pool thread.
class FileTree {
 public:
  static constexpr Inode kRoot = 1;
  static constexpr std::size_t kMaxNodes = 65536, kMaxNames = 65536, kMaxNameBytes = 255, kMaxPathBytes = 4096;
  static constexpr std::size_t kMaxTargetBytes = 16u << 20;  // of all symbolic links together
  static constexpr std::size_t kMaxChunks = 1u << 18;        // of all input files together: 256 GiB

  // In nanoseconds since 1970: clocks of trees before it have counted changes only.
  static constexpr std::uint64_t kFirstWallTime = 1'000'000'000'000'000;

  FileTree();

  // The limit of scratch files, each taking whole pages. If it is less than is used already, nothing more can be added.
  void limit_pages(std::uint64_t pages) { max_pages_ = pages; }
  std::uint64_t pages() const { return pages_; }

  // Null: there is none of that number.
  const Node* find(Inode inode) const;
  // REQUIRES: it exists.
  const Node& node(Inode inode) const;
  const Directory* directory(Inode inode) const;  // null: it is something else
  Inode lookup(Inode directory, std::string_view name) const;

  // REQUIRES of all below: the directory is one, and names are valid and not "." or "..".
  OrErrno<Inode> make(Inode directory, std::string_view name, decltype(Node::content) content);
  Errno link(Inode inode, Inode directory, std::string_view name);
  Errno unlink(Inode directory, std::string_view name);
  Errno remove_directory(Inode directory, std::string_view name);
  Errno rename(Inode from, std::string_view old_name, Inode to, std::string_view new_name);

  // REQUIRES: it is a file.
  Errno write(Inode inode, std::uint64_t offset, ByteView bytes);
  Errno resize(Inode inode, std::uint64_t size);
  Errno set_times(Inode inode, std::optional<std::uint64_t> accessed, std::optional<std::uint64_t> modified);

  // A descriptor is opened or closed. A node without names lives until the last one is closed.
  void open(Inode inode);
  void close(Inode inode);

  // Remembers from now on which nodes change, so that put_back() costs those. O(nodes).
  void follow_changes();
  // Makes the tree be as `before`. REQUIRES: it was equal to `before` at follow_changes(), and at the last put_back().
  void put_back(const FileTree& before);

  // The guest has learned that it is at least so late. Changes that came before the first time count as made just now.
  void on_wall_clock(std::uint64_t nanoseconds);
  bool knows_time() const { return clock_ >= kFirstWallTime; }

  // Visits the content of scratch files in the order in which their pages are numbered in an image: by inode.
  template <class Visit>
  void each_content(Visit visit) {
    for (auto& [inode, node] : nodes_) {
      if (auto* content = std::get_if<FileContent>(&node.content)) visit(*content);
    }
  }

 private:
  friend class FileTreeCodec;
  friend class FileTreeBuilder;

  Node& at(Inode inode);
  Directory& directory_at(Inode inode);
  std::uint64_t tick() { return ++clock_; }
  void touch_content(Inode inode);
  bool is_inside(Inode inode, Inode ancestor) const;
  Errno can_replace(const Node& old_node, Inode replaced) const;
  void add_name(Inode directory, std::string_view name, Inode inode);
  void drop_name(Inode directory, std::string_view name);
  void drop_if_unused(Inode inode);

  std::map<Inode, Node> nodes_;
  // From follow_changes() on. A guest has many inputs and few other nodes: nothing below visits all nodes.
  struct Followed {
    std::set<Inode> touched;   // nodes that may have changed
    std::set<Inode> writable;  // all nodes but inputs
  };
  std::optional<Followed> followed_;
  Inode next_inode_ = kRoot + 1;
  std::uint64_t clock_ = 0;
  std::size_t names_ = 0;
  std::size_t target_bytes_ = 0;
  std::uint64_t pages_ = 0;
  std::uint64_t max_pages_ = wire::kMaxFilePages;
};

}  // namespace gw::isolate
