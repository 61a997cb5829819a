#include "job/tasks/file_list.h"

#include "wire/names.h"

namespace gw::job {

using wire::pb::InputEntry;
using File = wire::pb::Effect::OutputFile;

void add_to_list(const File& piece, std::uint64_t bytes, const std::optional<Hash256>& hash, wire::pb::TaskFileList& list) {
  if (piece.offset() == 0) {
    InputEntry& entry = *list.add_entries();
    entry.set_path(piece.path());
    entry.set_type(piece.type() == File::DIRECTORY ? InputEntry::DIRECTORY
                   : piece.type() == File::SYMLINK ? InputEntry::SYMLINK
                                                   : InputEntry::FILE);
    if (piece.type() == File::SYMLINK) entry.set_target(piece.bytes());
  }
  if (piece.type() != File::FILE || list.entries().empty()) return;
  InputEntry& entry = *list.mutable_entries()->rbegin();
  entry.set_size(piece.offset() + bytes);
  if (hash) entry.add_chunks(wire::bytes_of(*hash));
}

Result<std::vector<InputEntry>> entries_of(const wire::pb::FromTask& from, const wire::pb::TaskFileList& list) {
  std::vector<InputEntry> entries;
  for (const InputEntry& entry : list.entries()) {
    if (!entry.path().starts_with(from.output())) continue;
    const std::string rest = entry.path().substr(from.output().size());
    if (!rest.empty() && rest.front() != '/') continue;
    entries.push_back(entry);
    entries.back().set_path(from.path() + rest);
  }
  if (entries.empty()) return fail(Kind::invalid, "task {} has left no '{}', which it reads", from.task(), from.output());
  return entries;
}

}  // namespace gw::job
