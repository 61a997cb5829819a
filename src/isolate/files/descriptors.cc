#include "isolate/files/descriptors.h"

namespace gw::isolate {

DescriptorTable DescriptorTable::standard(FileTree& tree) {
  using Kind = Descriptor::Kind;
  DescriptorTable table;
  table.put(0, {.kind = Kind::input, .rights = right::kRead | right::kPoll | right::kFilestatGet});
  for (Kind kind : {Kind::output, Kind::errors}) {
    table.put(static_cast<std::uint32_t>(kind), {.kind = kind, .rights = right::kWrite | right::kPoll | right::kFilestatGet});
  }
  tree.open(FileTree::kRoot);
  table.put(3, {.preopened = true, .rights = right::kOfDirectories, .inheriting = right::kAll, .node = FileTree::kRoot});
  return table;
}

Descriptor* DescriptorTable::find(std::uint32_t number) {
  auto found = table_.find(number);
  return found == table_.end() ? nullptr : &found->second;
}

OrErrno<std::uint32_t> DescriptorTable::add(const Descriptor& descriptor) {
  if (table_.size() >= kMax) return refuse(Errno::mfile);
  std::uint32_t number = 0;
  for (auto used = table_.begin(); used != table_.end() && used->first == number; ++used) number++;
  put(number, descriptor);
  return number;
}

}  // namespace gw::isolate
