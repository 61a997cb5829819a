#pragma once
// The jobs of a simulated grid: what they are, who submits them, and what must have come of them.

#include <map>
#include <string>
#include <vector>

#include "checkers.h"
#include "scenario.h"
#include "simulated_transport.h"

namespace gw::sim {

SigningKey key_of(std::uint64_t number);

// Submits each job to its home as a person would: again, if the peer says nothing or was restarted without knowing the job. A value of the
// simulation; the other parts outlive it.
class JobWorkload {
 public:
  struct Job {
    std::size_t home = 0;
    Bytes charter;
    Bytes manifest;
    job::JobId id;
    std::map<ThreadId, std::vector<std::string>> expected;
  };

  JobWorkload(const Scenario& scenario, std::uint64_t seed, Nodes& nodes, Timeline& timeline);

  const std::string& module() const { return module_; }
  const std::vector<Job>& jobs() const { return jobs_; }

  void submit_all(Time at);
  void cancel_all(Time at);
  void on_input_wanted(SimulatedNode& home, const job::InputWanted& wanted);
  // Nobody submits or cancels any more.
  void stop() { stopped_ = true; }
  // The job of that home can come to no end.
  void give_up(std::size_t home);

  bool all_over() const;
  // Of every job that has its home: the effects of the undisturbed run.
  Complaint check_results() const;

 private:
  Job make_job(std::size_t home);
  void submit(const Job& job);
  void cancel(const Job& job);
  bool over(const Job& job) const;

  const Scenario scenario_;
  const std::uint64_t seed_;
  Nodes& nodes_;
  Timeline& timeline_;
  Rng rng_;
  const std::string module_;
  std::vector<Job> jobs_;
  std::set<std::size_t> without_home_;
  bool stopped_ = false;
};

}  // namespace gw::sim
