#include "isolate/files/output_walk.h"

#include <algorithm>

#include "isolate/files/file_tree_builder.h"

namespace gw::isolate {
namespace {

// A path below another declared output is visited with that one.
bool lies_in_one_of(std::string_view path, const std::set<std::string>& others) {
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (others.contains(std::string(path.substr(0, slash)))) return true;
  }
  return false;
}

}  // namespace

OutputWalk::OutputWalk(const FileTree& files, std::vector<std::string> outputs) : files_(files) {
  for (std::string& path : outputs) {
    if (path.ends_with('/')) path.pop_back();
  }
  const std::set<std::string> all(outputs.begin(), outputs.end());
  for (const std::string& path : all) {
    if (!lies_in_one_of(path, all)) outputs_.insert(path);
  }
}

// Names are looked up as they stand: a link that the guest has put into the way leads nowhere.
Status OutputWalk::begin_output(const std::string& path) {
  GW_TRY(auto names, split_manifest_path(path));
  Inode at = FileTree::kRoot;
  for (std::string_view name : names) {
    if (files_.directory(at) == nullptr) return ok();
    at = files_.lookup(at, name);
    if (at == 0) return ok();
  }
  pending_.push_back({path, at});
  return ok();
}

void OutputWalk::push_entries(const std::string& path, const Directory& directory) {
  const auto first = static_cast<std::ptrdiff_t>(pending_.size());
  for (const auto& [name, cookie] : directory.cookies) pending_.push_back({path + "/" + name, directory.entries.at(cookie).node});
  std::reverse(pending_.begin() + first, pending_.end());
}

OutputPiece OutputWalk::next_of_file(const FileContent& content) {
  buffer_.resize(std::min<std::uint64_t>(content.size() - offset_, OutputPiece::kMaxBytes));
  const std::size_t count = content.read(offset_, buffer_);
  OutputPiece piece{.path = current_.path, .type = NodeType::file, .offset = offset_, .bytes = ByteView(buffer_).first(count)};
  offset_ += count;
  piece.last = offset_ == content.size();
  in_file_ = !piece.last;
  return piece;
}

Result<std::optional<OutputPiece>> OutputWalk::next() {
  if (in_file_) return std::optional(next_of_file(std::get<FileContent>(files_.node(current_.node).content)));
  for (;;) {
    if (pending_.empty()) {
      if (outputs_.empty()) return std::optional<OutputPiece>();
      GW_TRY_VOID(begin_output(outputs_.extract(outputs_.begin()).value()));
      continue;
    }
    current_ = std::move(pending_.back());
    pending_.pop_back();
    const Node& node = files_.node(current_.node);
    if (node.read_only()) continue;
    if (current_.path.size() >= FileTree::kMaxPathBytes)  // which also bounds how deep this goes
      return fail(Kind::guest_fault, "an output has a path of more than {} bytes: '{}...'", FileTree::kMaxPathBytes,
                  current_.path.substr(0, 40));
    if (const auto* link = std::get_if<Symlink>(&node.content))
      return std::optional(OutputPiece{.path = current_.path, .type = NodeType::symlink, .bytes = as_bytes(link->target)});
    if (const auto* directory = std::get_if<Directory>(&node.content)) {
      push_entries(current_.path, *directory);
      return std::optional(OutputPiece{.path = current_.path, .type = NodeType::directory});
    }
    offset_ = 0;
    return std::optional(next_of_file(std::get<FileContent>(node.content)));
  }
}

}  // namespace gw::isolate
