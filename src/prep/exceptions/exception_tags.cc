#include "prep/exceptions/exception_tags.h"

#include <algorithm>

namespace gw::prep {

Status TagTable::add(BinaryenModuleRef module, const char* name) {
  if (tags_.contains(std::string_view(name))) return ok();
  const Type param = BinaryenTagGetParams(BinaryenGetTag(module, name));
  if (BinaryenTypeArity(param) > 1 || param == BinaryenTypeVec128())
    return fail(Kind::unsupported, "the module throws exceptions that carry several values or a vector: only one number is supported");
  if (tags_.size() == kMaxTags) return fail(Kind::unsupported, "the module uses more than {} exception tags", kMaxTags);
  tags_.emplace(name, Tag{name, static_cast<unsigned>(tags_.size()) + kFirstTag, param});
  return ok();
}

Result<TagTable> TagTable::read(BinaryenModuleRef module) {
  TagTable table;
  Status status = ok();
  auto add = [&](const char* name) {
    if (status) status = table.add(module, name);
  };
  for (BinaryenIndex i = 0; i < BinaryenGetNumFunctions(module); ++i) {
    Expr body = BinaryenFunctionGetBody(BinaryenGetFunctionByIndex(module, i));
    if (!body) continue;
    walk(body, [&](Expr e) {
      if (is(e, Node::throw_tag)) add(BinaryenThrowGetTag(e));
      if (!is(e, Node::try_catch)) return;
      for (BinaryenIndex k = 0; k < BinaryenTryGetNumCatchTags(e); ++k) add(BinaryenTryGetCatchTagAt(e, k));
    });
  }
  GW_TRY_VOID(std::move(status));
  return table;
}

const Tag& TagTable::single(TagSet bit) const {
  return std::ranges::find_if(tags_, [&](const auto& entry) { return entry.second.bit() == bit; })->second;
}

TagSet TagTable::taken_by(Expr try_catch, BinaryenIndex index, TagSet coming) const {
  if (index >= BinaryenTryGetNumCatchTags(try_catch)) return coming;
  return coming & at(BinaryenTryGetCatchTagAt(try_catch, index)).bit();
}

}  // namespace gw::prep
