#include "transform/program_plan.h"

namespace gw::transform {
namespace {

constexpr std::size_t kManyTargets = 10;

std::vector<Signature> random_signatures(Rng& rng) {
  // The first one is that of the checkpoint import, which is in the table too.
  std::vector<Signature> signatures{{{}, BinaryenTypeNone()}};
  const std::uint64_t count = 2 + rng.below(4);
  while (signatures.size() < count) {
    Signature signature{{}, one_in(rng, 4) ? BinaryenTypeNone() : random_type(rng)};
    for (std::uint64_t params = rng.below(5); params > 0; --params) signature.params.push_back(random_type(rng));
    signatures.push_back(std::move(signature));
  }
  return signatures;
}

void fill_table(ProgramPlan& plan, Rng& rng) {
  for (unsigned s = 0; s < plan.signatures.size(); ++s) {
    TableGroup group{static_cast<std::uint32_t>(plan.table_entries.size()), 0};
    if (s == 0) plan.table_entries.emplace_back("checkpoint");
    for (const FunctionPlan& function : plan.functions)
      if (function.signature == s && !one_in(rng, 5)) plan.table_entries.push_back(function.name);
    // Enough targets that their calls stay indirect; fewer are called directly (prep/analysis/known_targets.h).
    const std::size_t different = plan.table_entries.size() - group.first;
    if (different > 0 && one_in(rng, 2))
      for (std::size_t i = 0; i < kManyTargets; ++i) plan.table_entries.push_back(plan.table_entries[group.first + i % different]);
    group.count = static_cast<std::uint32_t>(plan.table_entries.size()) - group.first;
    plan.groups.push_back(group);
  }
  plan.table_size = static_cast<std::uint32_t>(plan.table_entries.size() + rng.below(3));
}

}  // namespace

bool one_in(Rng& rng, unsigned n) { return rng.below(n) == 0; }

Type random_type(Rng& rng) {
  switch (rng.below(8)) {
    case 0:
    case 1:
    case 2:
      return BinaryenTypeInt32();
    case 3:
    case 4:
      return BinaryenTypeInt64();
    case 5:
      return BinaryenTypeFloat32();
    case 6:
      return BinaryenTypeFloat64();
    default:
      return BinaryenTypeVec128();
  }
}

ProgramPlan plan_program(Rng& rng) {
  ProgramPlan plan;
  plan.layout = one_in(rng, 2) ? Layout::reserved : Layout::foreign;
  plan.signatures = random_signatures(rng);
  const std::uint64_t functions = 2 + rng.below(6);
  for (std::uint64_t i = 0; i < functions; ++i)
    plan.functions.push_back({"f" + std::to_string(i), static_cast<unsigned>(rng.below(plan.signatures.size()))});
  const std::uint64_t globals = rng.below(4);
  for (std::uint64_t i = 0; i < globals; ++i) {
    Type type = random_type(rng);
    if (type == BinaryenTypeVec128()) type = BinaryenTypeInt64();  // refused by the pre-processor
    plan.globals.push_back({"g" + std::to_string(i), type});
  }
  fill_table(plan, rng);
  return plan;
}

}  // namespace gw::transform
