#include "kernel_speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "statistics.h"

namespace gw::bench {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

struct Ratio {
  std::string name;       // "fine_vs_native"
  std::string reference;  // what it is compared with
  double (*of)(const KernelSpeed::Times&);
};

const Ratio kRatios[] = {
    {"plain_vs_native", "clang-19 -O3 is 1", [](const KernelSpeed::Times& t) { return t.plain / t.native; }},
    {"coarse_vs_native", "clang-19 -O3 is 1", [](const KernelSpeed::Times& t) { return t.coarse / t.native; }},
    {"fine_vs_native", "clang-19 -O3 is 1; goal: geomean <= 1.20, worst <= 1.5",
     [](const KernelSpeed::Times& t) { return t.fine / t.native; }},
    {"coarse_vs_plain", "the module not mobile is 1; goal: geomean <= 1.03",
     [](const KernelSpeed::Times& t) { return t.coarse / t.plain; }},
    {"sandbox_vs_direct", "the fine module in this process is 1; by `godwit run`, less what starting takes; goal: geomean <= 1.02",
     [](const KernelSpeed::Times& t) { return t.command / t.fine; }},
    {"fine_vs_plain", "the module not mobile is 1; goal: geomean <= 1.08", [](const KernelSpeed::Times& t) { return t.fine / t.plain; }},
};

// Keeps the fastest run, and refuses one that does not do the same work.
Status keep_fastest(const RunCost& cost, const std::string& form, const RunCost& native, double& best) {
  if (cost.output != native.output) {
    return fail(Kind::internal, "{} prints '{}' instead of '{}': its speed means nothing", form, cost.output, native.output);
  }
  best = std::min(best, cost.cpu_seconds);
  return ok();
}

Status measure_form(GuestRunner& runner, const std::shared_ptr<const isolate::Module>& module, const std::string& form,
                    const RunCost& native, double& best) {
  GW_TRY(const RunCost cost, runner.run(module, {form}));
  return keep_fastest(cost, form, native, best);
}

void add_summary(const Ratio& ratio, const std::vector<double>& values, const std::string& suffix, Report& report) {
  report.add(ratio.name + "_geomean" + suffix, geometric_mean(values), "ratio", ratio.reference);
  report.add(ratio.name + "_worst" + suffix, largest(values), "ratio", ratio.reference);
}

}  // namespace

Result<KernelSpeed> KernelSpeed::build(const SuiteOptions& options) {
  GW_TRY(os::TempDir natives, os::TempDir::make());
  KernelSpeed speed(options, std::move(natives));
  for (const Half half : options.halves) {
    GW_TRY(const std::vector<Kernel> kernels, find_kernels(half));
    for (const Kernel& kernel : kernels) {
      GW_TRY(BuiltKernel built, build_kernel(kernel, speed.natives_.path()));
      speed.subjects_.push_back({.built = std::move(built), .best = {kNever, kNever, kNever, kNever, kNever}});
    }
  }
  return speed;
}

Status KernelSpeed::measure(GuestRunner& runner, const CommandRunner& command, Report& report) {
  GW_TRY_VOID(load(runner, command));
  for (unsigned run = 0; run < options_.runs; run++) {
    for (Subject& subject : subjects_) GW_TRY_VOID(measure_round(runner, command, subject));
  }
  summarise(report);
  list_kernels(report);
  return ok();
}

Status KernelSpeed::load(GuestRunner& runner, const CommandRunner& command) {
  for (Subject& subject : subjects_) {
    GW_TRY(subject.plain, runner.load(subject.built.plain));
    GW_TRY(subject.coarse, runner.load(subject.built.coarse));
    GW_TRY(subject.fine, runner.load(subject.built.fine));
    subject.fine_file = natives_.path() / (subject.built.kernel.name + ".wasm");
    GW_TRY_VOID(os::write_file_atomic(subject.fine_file, subject.built.fine));
    GW_TRY_VOID(command.prepare(subject.built.fine));
  }
  return ok();
}

// Runs every form once, close together in time, so that a disturbance of the machine affects all of them.
Status KernelSpeed::measure_round(GuestRunner& runner, const CommandRunner& command, Subject& subject) {
  const std::string& name = subject.built.kernel.name;
  GW_TRY(const RunCost native, run_native(subject.built.native));
  subject.best.native = std::min(subject.best.native, native.cpu_seconds);
  GW_TRY_VOID(measure_form(runner, subject.plain, name + " (plain)", native, subject.best.plain));
  GW_TRY_VOID(measure_form(runner, subject.coarse, name + " (coarse)", native, subject.best.coarse));
  GW_TRY_VOID(measure_form(runner, subject.fine, name + " (fine)", native, subject.best.fine));
  GW_TRY(const RunCost caged, command.run(subject.fine_file));
  return keep_fastest(caged, name + " (command)", native, subject.best.command);
}

void KernelSpeed::summarise(Report& report) const {
  for (const Ratio& ratio : kRatios) {
    std::vector<double> all;
    for (const Half half : options_.halves) {
      std::vector<double> values;
      for (const Subject& subject : subjects_) {
        if (subject.built.kernel.half == half) values.push_back(ratio.of(subject.best));
      }
      all.insert(all.end(), values.begin(), values.end());
      add_summary(ratio, values, "_" + name(half), report);
    }
    add_summary(ratio, all, "", report);
  }
}

void KernelSpeed::list_kernels(Report& report) const {
  for (const Subject& subject : subjects_) {
    const std::string prefix = fmt::format("{}.{}.", name(subject.built.kernel.half), subject.built.kernel.name);
    report.add(prefix + "native_s", subject.best.native, "s", "CPU time of the fastest run");
    for (const Ratio& ratio : kRatios) report.add(prefix + ratio.name, ratio.of(subject.best), "ratio", ratio.reference);
  }
}

}  // namespace gw::bench
