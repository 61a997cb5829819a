// Formulas as trees of objects with a virtual value(): indirect calls that recurse.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "../kernel.h"

namespace {

using Variables = std::vector<std::uint64_t>;

class Term {
 public:
  virtual ~Term() = default;
  virtual std::uint64_t value(const Variables& variables) const = 0;
};

using TermPtr = std::unique_ptr<Term>;

class Number : public Term {
 public:
  explicit Number(std::uint64_t number) : number_(number) {}
  std::uint64_t value(const Variables&) const override { return number_; }

 private:
  std::uint64_t number_;
};

class Variable : public Term {
 public:
  explicit Variable(std::size_t index) : index_(index) {}
  std::uint64_t value(const Variables& variables) const override { return variables[index_]; }

 private:
  std::size_t index_;
};

class Pair : public Term {
 protected:
  Pair(TermPtr left, TermPtr right) : left_(std::move(left)), right_(std::move(right)) {}
  TermPtr left_, right_;
};

class Sum : public Pair {
 public:
  Sum(TermPtr left, TermPtr right) : Pair(std::move(left), std::move(right)) {}
  std::uint64_t value(const Variables& variables) const override { return left_->value(variables) + right_->value(variables); }
};

class Product : public Pair {
 public:
  Product(TermPtr left, TermPtr right) : Pair(std::move(left), std::move(right)) {}
  std::uint64_t value(const Variables& variables) const override { return left_->value(variables) * right_->value(variables); }
};

class Smaller : public Pair {
 public:
  Smaller(TermPtr left, TermPtr right) : Pair(std::move(left), std::move(right)) {}
  std::uint64_t value(const Variables& variables) const override {
    const std::uint64_t left = left_->value(variables), right = right_->value(variables);
    return left < right ? left : right;
  }
};

class Choice : public Pair {
 public:
  Choice(TermPtr condition, TermPtr left, TermPtr right) : Pair(std::move(left), std::move(right)), condition_(std::move(condition)) {}
  std::uint64_t value(const Variables& variables) const override {
    return condition_->value(variables) % 2 != 0 ? left_->value(variables) : right_->value(variables);
  }

 private:
  TermPtr condition_;
};

constexpr std::size_t kVariables = 8;

TermPtr random_term(KernelRandom& random, int depth) {
  if (depth == 0) {
    if (kernel_random_below(&random, 2) != 0) return std::make_unique<Variable>(kernel_random_below(&random, kVariables));
    return std::make_unique<Number>(kernel_random_below(&random, 1000));
  }
  TermPtr left = random_term(random, depth - 1), right = random_term(random, depth - 1);
  switch (kernel_random_below(&random, 4)) {
    case 0:
      return std::make_unique<Sum>(std::move(left), std::move(right));
    case 1:
      return std::make_unique<Product>(std::move(left), std::move(right));
    case 2:
      return std::make_unique<Smaller>(std::move(left), std::move(right));
    default:
      return std::make_unique<Choice>(random_term(random, depth / 2), std::move(left), std::move(right));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint32_t rounds = kernel_size(argc, argv, 60000);
  KernelRandom random = {17};
  std::vector<TermPtr> formulas;
  for (int i = 0; i < 12; i++) formulas.push_back(random_term(random, 7));
  Variables variables(kVariables);
  std::uint64_t sum = 0;
  for (std::uint32_t round = 0; round < rounds; round++) {
    for (std::uint64_t& variable : variables) variable = kernel_random(&random) >> 40;
    for (const TermPtr& formula : formulas) sum = sum * 31 + formula->value(variables);
  }
  std::printf("formula %016llx\n", static_cast<unsigned long long>(sum));
  return 0;
}
