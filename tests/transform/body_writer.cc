#include "transform/body_writer.h"

#include <algorithm>

namespace gw::transform {

BodyWriter::BodyWriter(const Builder& build, const ProgramPlan& plan, Rng& rng, const FunctionPlan& function)
    : build_(build),
      plan_(plan),
      rng_(rng),
      brief_(one_in(rng, 3)),
      budget_(static_cast<unsigned>(brief_ ? 3 + rng.below(9) : 20 + rng.below(120))) {
  Signature signature = plan.signature_of(function);
  draft_.name = function.name;
  draft_.params = BinaryenTypeCreate(signature.params.data(), static_cast<BinaryenIndex>(signature.params.size()));
  draft_.results = signature.result;
  draft_.locals = signature.params;
  for (std::uint64_t locals = 2 + rng.below(chance(20) ? 24 : 7); locals > 0; --locals) draft_.add_local(random_type(rng));
  for (Local l = 0; l < draft_.locals.size(); ++l) writable_.push_back(l);
}

prep::FunctionDraft BodyWriter::write() {
  Statements body = spend_fuel("");
  for (Expr e : statements((brief_ ? 1 : 2) + rng_.below(brief_ ? 2 : 6))) body.push_back(e);
  if (!brief_ && chance(60)) {  // so everything is live to the end
    for (Local l : writable_)
      if (chance(70)) body.push_back(mix(build_.get(l, draft_.locals[l])));
  }
  if (draft_.results == BinaryenTypeNone()) {
    draft_.body = build_.block(nullptr, std::move(body), BinaryenTypeNone());
  } else {
    body.push_back(value(draft_.results));
    draft_.body = build_.block(nullptr, std::move(body), draft_.results);
  }
  return std::move(draft_);
}

std::string BodyWriter::fresh_label() { return "l" + std::to_string(labels_made_++); }

const BodyWriter::Label* BodyWriter::random_label(Type type) {
  std::vector<const Label*> fitting;
  for (const Label& label : labels_)
    if (label.type == type) fitting.push_back(&label);
  return fitting.empty() ? nullptr : fitting[rng_.below(fitting.size())];
}

Local BodyWriter::random_local(Type type) {
  std::vector<Local> fitting;
  for (Local l : writable_)
    if (draft_.locals[l] == type) fitting.push_back(l);
  if (!fitting.empty()) return fitting[rng_.below(fitting.size())];
  writable_.push_back(draft_.add_local(type));
  return writable_.back();
}

}  // namespace gw::transform
