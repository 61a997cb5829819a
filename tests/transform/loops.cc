#include <vector>

#include "transform/body_writer.h"

namespace gw::transform {
namespace {

const Type kI32 = BinaryenTypeInt32();

// A change that makes a loop look counted although it is not.
enum class Spoiler : std::uint8_t { none, second_write, step_sometimes, step_after_test, bound_moves, second_back_edge, count };

// Compares a variable with its bound.
struct Test {
  BinaryenOp op;
  bool bound_first;
};

Test random_test(Rng& rng) {
  switch (rng.below(6)) {
    case 0:
      return {BinaryenLtUInt32(), false};
    case 1:
      return {BinaryenLtSInt32(), false};
    case 2:
      return {BinaryenGtUInt32(), true};
    case 3:
      return {BinaryenGtSInt32(), true};
    case 4:
      return {BinaryenNeInt32(), true};
    default:
      return {BinaryenNeInt32(), false};
  }
}

}  // namespace

Expr BodyWriter::out_of_fuel() { return build_.binary(BinaryenLtSInt32(), build_.global("fuel"), build_.i32(0)); }

// The statements that take one unit, and leave when there is none: to the label, or out of the function if it is empty.
BodyWriter::Statements BodyWriter::spend_fuel(const std::string& exit) {
  Statements list{build_.set_global("fuel", build_.binary(BinaryenSubInt32(), build_.global("fuel"), build_.i32(1)))};
  if (!exit.empty()) {
    list.push_back(build_.br(exit.c_str(), out_of_fuel()));
  } else {
    const bool has_result = draft_.results != BinaryenTypeNone();
    list.push_back(build_.if_else(out_of_fuel(), build_.ret(has_result ? build_.zero(draft_.results) : nullptr)));
  }
  return list;
}

Expr BodyWriter::loop_statement() {
  if (loop_depth_ >= kMaxLoopDepth) return nullptr;
  ++loop_depth_;
  const std::uint64_t shape = rng_.below(10);
  Expr loop = shape < 6 ? counted_loop() : shape < 8 ? while_loop() : endless_loop();
  --loop_depth_;
  return loop;
}

// i = first; do { body; i += step } while (i != bound), in all its variants, and in variants that only look like it.
Expr BodyWriter::counted_loop() {
  static constexpr std::int32_t kSteps[] = {1, 1, 1, -1, -1, 2, 4, -2, 3};
  const bool fueled = chance(60);
  const auto spoiler = fueled && chance(40) ? static_cast<Spoiler>(rng_.below(static_cast<std::uint64_t>(Spoiler::count))) : Spoiler::none;
  const Local i = draft_.add_local(kI32), bound = draft_.add_local(kI32);
  const std::int32_t step = kSteps[rng_.below(std::size(kSteps))];
  const auto trips = static_cast<std::int32_t>(1 + rng_.below(9));
  const bool to_zero = chance(30);
  const auto first = to_zero ? -step * trips : static_cast<std::int32_t>(rng_.below(20));
  const bool constant_bound = to_zero || chance(50);
  const std::int32_t last = first + step * trips;
  const std::string label = fresh_label(), exit = fresh_label();

  Statements body = fueled ? spend_fuel(chance(50) ? exit : "") : Statements{};
  labels_.push_back({exit, BinaryenTypeNone()});
  if (spoiler == Spoiler::second_back_edge) labels_.push_back({label, BinaryenTypeNone()});
  if (spoiler == Spoiler::second_write) writable_.push_back(i);
  if (spoiler == Spoiler::bound_moves) writable_.push_back(bound);
  for (Expr e : statements(rng_.below(3))) body.push_back(e);
  std::erase_if(writable_, [&](Local l) { return l == i || l == bound; });
  if (spoiler == Spoiler::second_back_edge) labels_.pop_back();
  labels_.pop_back();

  auto stepped = [&] { return build_.binary(BinaryenAddInt32(), build_.get_i32(i), build_.i32(step)); };
  Expr variable = build_.get_i32(i);
  if (spoiler == Spoiler::step_sometimes) {
    body.push_back(build_.if_else(condition(), build_.set(i, stepped())));
  } else if (spoiler != Spoiler::step_after_test) {
    if (chance(50)) {
      variable = BinaryenLocalTee(build_.module(), i, stepped(), kI32);
    } else {
      body.push_back(build_.set(i, stepped()));
    }
  }
  // Without fuel only tests that are sure to fail in the end.
  const Test test = fueled || (step > 0) ? random_test(rng_) : Test{BinaryenNeInt32(), false};
  Expr limit = constant_bound ? build_.i32(last) : build_.get_i32(bound);
  Expr again = to_zero && test.op == BinaryenNeInt32() && chance(70)
                   ? variable
                   : build_.binary(test.op, test.bound_first ? limit : variable, test.bound_first ? variable : limit);
  body.push_back(build_.br(label.c_str(), again));
  if (spoiler == Spoiler::step_after_test) body.push_back(build_.set(i, stepped()));

  const bool surprising_start = fueled && chance(30);  // the step may miss the bound, or the loop run the wrong way round
  Statements all{build_.set(i, surprising_start ? masked(31) : build_.i32(first)),
                 build_.set(bound, fueled && chance(30) ? masked(31) : build_.i32(last)),
                 build_.loop(label.c_str(), sequence(std::move(body)))};
  Expr whole = build_.block(exit.c_str(), std::move(all), BinaryenTypeNone());
  return chance(50) ? sequence({whole, mix(build_.get_i32(i))}) : whole;
}

// while (condition) body, tested at the top, in one of the two shapes compilers use.
Expr BodyWriter::while_loop() {
  const std::string label = fresh_label(), exit = fresh_label();
  Statements body = spend_fuel(exit);
  labels_.push_back({exit, BinaryenTypeNone()});
  labels_.push_back({label, BinaryenTypeNone()});
  Expr test = condition();
  Statements inner = statements(1 + rng_.below(3));
  labels_.pop_back();
  labels_.pop_back();
  inner.push_back(build_.br(label.c_str()));
  if (chance(50)) {
    body.push_back(build_.if_else(test, sequence(std::move(inner))));
  } else {
    body.push_back(build_.br(exit.c_str(), build_.eqz(test)));
    body.insert(body.end(), inner.begin(), inner.end());
  }
  return build_.block(exit.c_str(), {build_.loop(label.c_str(), sequence(std::move(body)))}, BinaryenTypeNone());
}

// Several ways back to the top and out of the middle.
Expr BodyWriter::endless_loop() {
  const std::string label = fresh_label(), exit = fresh_label();
  Statements body = spend_fuel(chance(50) ? exit : "");
  labels_.push_back({exit, BinaryenTypeNone()});
  labels_.push_back({label, BinaryenTypeNone()});
  for (std::uint64_t parts = 1 + rng_.below(3); parts > 0; --parts) {
    for (Expr e : statements(1 + rng_.below(2))) body.push_back(e);
    body.push_back(build_.br(chance(50) ? label.c_str() : exit.c_str(), condition()));
  }
  labels_.pop_back();
  labels_.pop_back();
  if (chance(50)) body.push_back(build_.br(label.c_str()));
  return build_.block(exit.c_str(), {build_.loop(label.c_str(), sequence(std::move(body)))}, BinaryenTypeNone());
}

Expr BodyWriter::loop_value(Type type) {
  if (loop_depth_ >= kMaxLoopDepth) return nullptr;
  ++loop_depth_;
  const std::string label = fresh_label();
  Statements body = spend_fuel("");
  labels_.push_back({label, BinaryenTypeNone()});
  for (Expr e : statements(1 + rng_.below(2))) body.push_back(e);
  if (chance(70)) body.push_back(build_.br(label.c_str(), condition()));
  body.push_back(value(type));
  labels_.pop_back();
  --loop_depth_;
  return build_.loop(label.c_str(), build_.block(nullptr, std::move(body), type));
}

}  // namespace gw::transform
