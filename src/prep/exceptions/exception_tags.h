#pragma once
// The exception tags of a module: the kinds of exceptions its code throws and catches, and what each carries.

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/result.h"
#include "prep/ir.h"

namespace gw::prep {

using TagSet = std::uint32_t;  // the tag with number kFirstTag + i is bit i

// 1 is taken: the global that holds the number of an exception on its way holds 1 while the program unwinds to be suspended (kUnwinding).
inline constexpr unsigned kFirstTag = 2;
inline constexpr std::size_t kMaxTags = 32;

struct Tag {
  std::string name;
  unsigned number;
  Type param;  // none, or one number
  TagSet bit() const { return TagSet{1} << (number - kFirstTag); }
};

class TagTable {
 public:
  // The tags that occur in code: Binaryen's C API cannot list the others. Refuses tags that carry several values or a vector.
  static Result<TagTable> read(BinaryenModuleRef module);

  bool empty() const { return tags_.empty(); }
  const Tag& at(const char* name) const { return tags_.find(std::string_view(name))->second; }
  const Tag& single(TagSet bit) const;  // REQUIRES: the set has one member
  const std::map<std::string, Tag, std::less<>>& all() const { return tags_; }

  // The exceptions among `coming` that clause `index` of a try takes; catch_all takes all.
  TagSet taken_by(Expr try_catch, BinaryenIndex index, TagSet coming) const;

 private:
  Status add(BinaryenModuleRef module, const char* name);

  std::map<std::string, Tag, std::less<>> tags_;
};

}  // namespace gw::prep
