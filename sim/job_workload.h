#pragma once
// The jobs of a simulated grid: their programs, their homes and their expected results.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checks/checkers.h"
#include "scenario.h"
#include "simulated_transport.h"

namespace gw::sim {

SigningKey key_of(std::uint64_t number);

// Submits each job to its home as a user would: again, if the peer does not answer or has lost the job in a restart. A value of the
// simulation; the other parts outlive it.
class JobWorkload {
 public:
  struct Job {
    std::size_t home = 0;
    bool honest = true;  // its home is
    bool too_large = false;
    Bytes charter;
    Bytes manifest;
    std::vector<std::string> segments;  // of rows
    job::JobId id;
    ExpectedEffects expected;
    std::uint64_t steps = 0;              // of the undisturbed run
    std::set<ThreadId> may_be_exhausted;  // threads that read the clock more often than a thread without images may
  };

  // `grid`: where the honest jobs run; none: the first one of their homes.
  JobWorkload(const Scenario& scenario, std::uint64_t seed, std::optional<peer::GridId> grid, Nodes& nodes, Timeline& timeline);

  const std::string& module() const { return module_; }
  // The content of the input files, the same for all jobs of a run.
  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::vector<Job>& jobs() const { return jobs_; }
  // The determinants after which a thread without images fails.
  static constexpr std::size_t kRigidDeterminants = 8;
  bool may_be_exhausted(const job::JobId& job, ThreadId thread) const;
  // Steps of the undisturbed run of all jobs.
  std::uint64_t steps() const;

  void submit_all(Time at);
  void cancel_all(Time at);
  // Suspends and resumes the jobs in turn until `until`; afterwards only resumes them.
  void suspend_all(Time at, Time until);
  void on_input_wanted(SimulatedNode& home, const job::InputWanted& wanted);
  // Ends all submissions and cancellations.
  void stop() { stopped_ = true; }
  // Whether the job must end with the right result.
  bool is_honest(const job::JobId& job) const;
  // Cancels the jobs of Byzantine homes, so that the other peers forget them.
  void cancel_dishonest();
  // Cancels the gang that cannot begin.
  void cancel_too_large();
  // The home is permanently dead, so its job never ends.
  void give_up(std::size_t home);

  bool all_over() const;
  // Checks that every job whose home is not permanently dead has the effects of the undisturbed run.
  Complaint check_results(const TaintedThreads& tainted) const;
  // The threads that the homes of the same jobs have recorded as failed.
  std::vector<job::ThreadFailed> failed_threads() const;

 private:
  Job make_job(std::size_t home, bool honest);
  GuestState make_program();
  void submit(const Job& job);
  void cancel(const Job& job);
  Complaint check_stopped(const Job& job) const;
  void suspend_or_resume(const Job& job, Time until);
  bool over(const Job& job) const;
  std::optional<wire::pb::JobRecord> record_of(const Job& job) const;
  bool is_recorded_as_over(const Job& job) const;
  bool was_given_up(const Job& job) const;
  bool was_stopped(const Job& job) const;
  bool must_be_right(const Job& job) const;

  const Scenario scenario_;
  const std::uint64_t seed_;
  const std::optional<peer::GridId> grid_;
  Nodes& nodes_;
  Timeline& timeline_;
  Rng rng_;
  const std::string module_;
  std::vector<std::string> inputs_;
  std::vector<Job> jobs_;
  std::set<std::size_t> without_home_;
  // The result of over() for each state of the home's disk: over() is called after every event, and most events change no disk.
  struct Seen {
    std::uint64_t changes = 0;
    bool over = false;
  };
  mutable std::map<job::JobId, Seen> seen_;
  bool stopped_ = false;
};

}  // namespace gw::sim
