#include "node/jobs/job_watchers.h"

#include <utility>

namespace gw::node {

class JobWatchers::Watching final : public Subscription {
 public:
  Watching(std::weak_ptr<Table> table, const job::JobId& job, Number number) : table_(std::move(table)), job_(job), number_(number) {}
  ~Watching() override {
    const auto table = table_.lock();
    if (table == nullptr) return;
    table->watchers.erase(number_);
    const auto found = table->by_job.find(job_);
    found->second.erase(number_);
    if (found->second.empty()) table->by_job.erase(found);
  }

 private:
  std::weak_ptr<Table> table_;
  job::JobId job_;
  Number number_;
};

Result<std::unique_ptr<Subscription>> JobWatchers::add(const job::JobId& id, std::function<void()> changed) {
  const std::size_t present = table_->watchers.size();
  if (present >= kMaxWatchers) return fail(Kind::overloaded, "{} clients watch jobs already: try again later", present);
  const Number number = ++next_;
  table_->watchers.emplace(number, std::move(changed));
  table_->by_job[id].insert(number);
  return std::unique_ptr<Subscription>(std::make_unique<Watching>(table_, id, number));
}

bool JobWatchers::note_change(const job::JobId& id) {
  const auto found = table_->by_job.find(id);
  if (found == table_->by_job.end()) return false;
  due_.insert(found->second.begin(), found->second.end());
  return true;
}

void JobWatchers::wake() {
  for (const Number number : std::exchange(due_, {})) {
    const auto found = table_->watchers.find(number);  // the callback before may have ended this subscription
    if (found == table_->watchers.end()) continue;
    const auto changed = found->second;
    changed();
  }
}

}  // namespace gw::node
