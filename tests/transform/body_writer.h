#pragma once
// Writes the body of one function of a random program.

#include <string>
#include <vector>

#include "transform/program_plan.h"

namespace gw::transform {

// Random code that is valid, ends, and prints the same in every engine:
//  - every call and every turn of a loop that is not short by construction takes from the global `fuel`, and gives up when there is none
//  - nothing traps: addresses are masked, divisors odd, table indices reduced
//  - floats are finite wherever they could be observed: each one that is made goes through the prelude's $finite32 or $finite64
//
// Calls, branches and tees stand wherever a value may stand, which compilers rarely do.
class BodyWriter {
 public:
  BodyWriter(const Builder& build, const ProgramPlan& plan, Rng& rng, const FunctionPlan& function);
  prep::FunctionDraft write();

 private:
  struct Label {
    std::string name;
    Type type;  // of the value that a branch to it carries
  };
  using Statements = std::vector<Expr>;
  using MakeValue = Expr (BodyWriter::*)(Type);
  using MakeStatement = Expr (BodyWriter::*)();

  // Expressions. value() gives an expression of exactly this type; the others give null where they cannot.
  Expr value(Type type);
  Expr leaf(Type type);
  Expr constant(Type type);
  Expr operation(Type type);
  Expr division(Type type);
  Expr lane_operation(Type type);
  Expr vector_operation();
  Expr float_vector_operation();
  Expr tee(Type type);
  Expr load(Type type);
  Expr select(Type type);
  Expr if_value(Type type);
  Expr block_value(Type type);
  Expr branch_passing_value(Type type);
  Expr direct_call(Type type);
  Expr indirect_call(Type type);
  Expr finite(Expr e);
  Expr address();
  Expr condition() { return value(BinaryenTypeInt32()); }
  Expr masked(std::int32_t mask);
  Statements arguments(const Signature& signature);

  // Statements.
  Statements statements(std::uint64_t count);
  Expr statement();
  Expr set_local();
  Expr set_global();
  Expr store();
  Expr mix_value();
  Expr drop_value();
  Expr if_statement();
  Expr block_statement();
  Expr branch();
  Expr branch_table();
  Expr leave_early();
  Expr call_statement();
  Expr bulk_memory();
  Expr grow_memory();
  Expr read_input();
  Expr call_prelude();
  Expr mix(Expr e);
  Expr sequence(Statements list);

  // Loops.
  Expr loop_statement();
  Expr counted_loop();
  Expr while_loop();
  Expr endless_loop();
  Expr loop_value(Type type);
  Statements spend_fuel(const std::string& exit);
  Expr out_of_fuel();

  std::string fresh_label();
  const Label* random_label(Type type);
  Local random_local(Type type);  // one that may be written
  bool exhausted() const { return budget_ == 0 || depth_ > kMaxDepth; }
  bool chance(unsigned percent) { return rng_.below(100) < percent; }

  static constexpr unsigned kMaxDepth = 9;
  static constexpr unsigned kMaxLoopDepth = 3;

  const Builder& build_;
  const ProgramPlan& plan_;
  Rng& rng_;
  prep::FunctionDraft draft_;
  std::vector<Local> writable_;
  std::vector<Label> labels_;
  unsigned labels_made_ = 0;
  const bool brief_;  // small enough to be inlined
  unsigned budget_;   // expressions and statements still to be made
  unsigned depth_ = 0;
  unsigned loop_depth_ = 0;
};

}  // namespace gw::transform
