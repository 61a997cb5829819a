// An interpreter whose instructions are objects with a virtual run(): indirect calls and unpredictable control flow.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "../kernel.h"

namespace {

struct Machine {
  std::vector<std::int64_t> registers = std::vector<std::int64_t>(16);
  std::vector<std::int64_t> memory = std::vector<std::int64_t>(4096);
  std::size_t next = 0;
};

class Instruction {
 public:
  virtual ~Instruction() = default;
  virtual void run(Machine& machine) const = 0;
};

class Load : public Instruction {
 public:
  Load(int to, std::int64_t value) : to_(to), value_(value) {}
  void run(Machine& machine) const override { machine.registers[to_] = value_; }

 private:
  int to_;
  std::int64_t value_;
};

class Add : public Instruction {
 public:
  Add(int to, int from) : to_(to), from_(from) {}
  void run(Machine& machine) const override { machine.registers[to_] += machine.registers[from_]; }

 private:
  int to_, from_;
};

class Multiply : public Instruction {
 public:
  Multiply(int to, int from) : to_(to), from_(from) {}
  void run(Machine& machine) const override {
    const auto product = static_cast<std::uint64_t>(machine.registers[to_]) * static_cast<std::uint64_t>(machine.registers[from_]);
    machine.registers[to_] = static_cast<std::int64_t>(product % 1000003);
  }

 private:
  int to_, from_;
};

class Fetch : public Instruction {
 public:
  Fetch(int to, int address) : to_(to), address_(address) {}
  void run(Machine& machine) const override { machine.registers[to_] = machine.memory[machine.registers[address_] & 4095]; }

 private:
  int to_, address_;
};

class Store : public Instruction {
 public:
  Store(int address, int from) : address_(address), from_(from) {}
  void run(Machine& machine) const override { machine.memory[machine.registers[address_] & 4095] = machine.registers[from_]; }

 private:
  int address_, from_;
};

class JumpIfLess : public Instruction {
 public:
  JumpIfLess(int left, int right, std::size_t target) : left_(left), right_(right), target_(target) {}
  void run(Machine& machine) const override {
    if (machine.registers[left_] < machine.registers[right_]) machine.next = target_;
  }

 private:
  int left_, right_;
  std::size_t target_;
};

using Program = std::vector<std::unique_ptr<Instruction>>;

// for (r0 = 0; r0 < rounds; r0 += r9) { r3 = mem[r0]; r3 = r3 * r4 + r0; mem[r3] = r3; if (r3 < r5) r6 += r3; }
Program make_program(std::uint32_t rounds) {
  Program program;
  program.push_back(std::make_unique<Load>(0, 0));
  program.push_back(std::make_unique<Load>(1, rounds));
  program.push_back(std::make_unique<Load>(4, 7919));
  program.push_back(std::make_unique<Load>(5, 500000));
  program.push_back(std::make_unique<Load>(9, 1));
  const std::size_t loop = program.size();
  program.push_back(std::make_unique<Fetch>(3, 0));
  program.push_back(std::make_unique<Multiply>(3, 4));
  program.push_back(std::make_unique<Add>(3, 0));
  program.push_back(std::make_unique<Store>(3, 3));
  program.push_back(std::make_unique<JumpIfLess>(5, 3, loop + 6));
  program.push_back(std::make_unique<Add>(6, 3));
  program.push_back(std::make_unique<Add>(0, 9));
  program.push_back(std::make_unique<JumpIfLess>(0, 1, loop));
  return program;
}

void run(const Program& program, Machine& machine) {
  while (machine.next < program.size()) program[machine.next++]->run(machine);
}

}  // namespace

int main(int argc, char** argv) {
  const Program program = make_program(kernel_size(argc, argv, 12000000));
  Machine machine;
  run(program, machine);
  std::uint64_t sum = static_cast<std::uint64_t>(machine.registers[6]);
  for (const std::int64_t word : machine.memory) sum = sum * 31 + static_cast<std::uint64_t>(word);
  std::printf("machine %016llx\n", static_cast<unsigned long long>(sum));
  return 0;
}
