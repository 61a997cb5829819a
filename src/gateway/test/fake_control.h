#pragma once
// A peer that does what a test says.

#include <boost/asio/post.hpp>
#include <map>
#include <set>

#include "gateway/http.h"
#include "node/control.h"

namespace gw::gateway {

// Answers from what the test has put into it. On the thread of its io_context, as the real one.
class FakeControl final : public node::Control {
 public:
  struct Job {
    node::JobView view;
    std::string output, errors;
    std::vector<std::string> input;
    std::vector<node::JobEvent> events;
    std::set<const std::function<void()>*> watchers;
    bool over() const { return node::is_over(view.summary.state); }
  };

  explicit FakeControl(asio::io_context& io) : io_(io) {}

  Job& add(const job::JobId& id) {
    Job& job = jobs_[id];
    job.view.summary.id = id;
    note(id, node::JobEvent::Accepted{});
    return job;
  }
  void note(const job::JobId& id, decltype(node::JobEvent::kind) kind) {
    Job& job = jobs_.at(id);
    job.events.push_back({.number = job.events.size() + 1, .at = {}, .kind = std::move(kind)});
    for (const auto* changed : job.watchers) asio::post(io_, *changed);
  }
  void write(const job::JobId& id, const std::string& bytes) {
    Job& job = jobs_.at(id);
    job.output += bytes;
    note(id, node::JobEvent::OutputGrew{node::Stream::output, job.output.size()});
  }
  void end(const job::JobId& id, std::uint32_t exit_code) {
    jobs_.at(id).view.summary.state = node::JobState::done;
    note(id, node::JobEvent::Over{node::JobState::done, exit_code});
  }
  std::size_t watchers(const job::JobId& id) const { return jobs_.at(id).watchers.size(); }

  bool mute = false;          // answers nothing
  mutable int summaries = 0;  // that were asked for
  std::map<Hash256, std::string> blobs;
  bool stopped = false;

  void store_blob(const Hash256& hash, std::string bytes, std::function<void(Status)> done) override {
    if (sha256(as_bytes(bytes)) != hash) return answer([done = std::move(done)] { done(fail(Kind::corrupt, "the hash is another one")); });
    blobs[hash] = std::move(bytes);
    answer([done = std::move(done)] { done(ok()); });
  }
  void fetch(node::UrlRequest request, std::function<void(Result<node::UrlPieces>)> done) override {
    answer([done = std::move(done), request = std::move(request)] {
      done(node::UrlPieces{.total = request.offset + 5, .version = request.url, .pieces = {sha256(as_bytes(request.version))}});
    });
  }
  void submit(const wire::pb::JobSubmission& submission, std::function<void(Result<job::JobId>)> done) override {
    if (submission.manifest().empty()) return answer([done = std::move(done)] { done(fail(Kind::invalid, "the manifest is empty")); });
    const job::JobId id{sha256(as_bytes(submission.charter()))};
    add(id);
    answer([done = std::move(done), id] { done(id); });
  }
  void cancel(const job::JobId& id, std::function<void(Status)> done) override {
    const bool known = jobs_.contains(id);
    if (known) jobs_.at(id).view.summary.state = node::JobState::cancelled;
    answer([done = std::move(done), known] { done(known ? ok() : fail(Kind::not_found, "there is no such job")); });
  }
  void suspend(const job::JobId& id, std::function<void(Status)> done) override { change(id, node::JobState::suspended, std::move(done)); }
  void resume(const job::JobId& id, std::function<void(Status)> done) override { change(id, node::JobState::running, std::move(done)); }
  Result<wire::pb::JobImage> image(const job::JobId& id) const override {
    if (!jobs_.contains(id)) return fail(Kind::not_found, "there is no such job");
    if (jobs_.at(id).view.summary.state != node::JobState::suspended) return fail(Kind::invalid, "the job is not suspended");
    wire::pb::JobImage image;
    image.set_root(std::string(32, 'r'));
    wire::write(job::StreamMarks{{job::kHomeStream, 7}}, *image.mutable_stored());
    return image;
  }
  void load_blob(const Hash256& hash, std::function<void(Result<std::string>)> done) override {
    const auto found = blobs.find(hash);
    const Result<std::string> bytes = found == blobs.end() ? Result<std::string>(fail(Kind::not_found, "it is not here")) : found->second;
    answer([done = std::move(done), bytes] { done(bytes); });
  }
  void forget(const job::JobId& id, std::function<void(Status)> done) override {
    const bool known = jobs_.erase(id) > 0;
    answer([done = std::move(done), known] { done(known ? ok() : fail(Kind::not_found, "there is no such job")); });
  }
  void supply_input(const job::JobId& id, std::uint64_t piece, std::string bytes, std::function<void(Status)> done) override {
    const bool next = jobs_.contains(id) && jobs_.at(id).input.size() == piece;
    if (next) jobs_.at(id).input.push_back(std::move(bytes));
    answer([done = std::move(done), next] { done(next ? ok() : fail(Kind::invalid, "this piece is not the next one")); });
  }
  void ping(const job::PeerId&, std::function<void(Result<node::PingView>)> done) override {
    answer(
        [done = std::move(done)] { done(node::PingView{.round_trip = std::chrono::microseconds(250), .way = "direct", .version = "2"}); });
  }
  void share(const node::ShareChange& change, std::function<void(Result<node::Share>)> done) override {
    answer([done = std::move(done), share = node::changed({.cores = 2}, change)] { done(share); });
  }
  std::string metrics() override { return "godwit_slots 2\n"; }
  node::NodeView node() const override { return {.version = "0.1.0", .addresses = {"127.0.0.1:7000"}, .slots = 2}; }
  std::vector<node::PeerView> peers() const override { return {{.state = node::PeerView::State::self}}; }
  std::vector<node::JobSummary> jobs() const override {
    std::vector<node::JobSummary> all;
    for (const auto& [id, job] : jobs_) all.push_back(job.view.summary);
    return all;
  }
  std::vector<node::HostedJobView> hosted() const override { return hosted_view; }
  std::vector<node::BalanceView> balance() const override { return balance_view; }
  Result<node::JobSummary> job_summary(const job::JobId& id) const override {
    ++summaries;
    if (!jobs_.contains(id)) return fail(Kind::not_found, "there is no such job");
    return jobs_.at(id).view.summary;
  }
  bool is_over(const job::JobId& id) const override { return jobs_.contains(id) && jobs_.at(id).over(); }
  void job(const job::JobId& id, std::function<void(Result<node::JobView>)> done) override {
    const auto found = jobs_.find(id);
    const Result<node::JobView> view =
        found == jobs_.end() ? Result<node::JobView>(fail(Kind::not_found, "there is no such job")) : found->second.view;
    answer([done = std::move(done), view] { done(view); });
  }
  void read_output(const job::JobId& id, node::Stream stream, std::uint64_t offset, std::size_t limit,
                   std::function<void(Result<node::OutputPiece>)> done) override {
    const Job& job = jobs_.at(id);
    const std::string& all = stream == node::Stream::output ? job.output : job.errors;
    const std::size_t from = std::min<std::size_t>(offset, all.size());
    node::OutputPiece piece{.bytes = all.substr(from, limit)};
    piece.end = job.over() && from + piece.bytes.size() == all.size();
    answer([done = std::move(done), piece] { done(piece); });
  }
  // One task, which prints all.
  void read_frames(const job::JobId& id, const node::FrameQuery& query, std::function<void(Result<node::OutputFrames>)> done) override {
    const Job& job = jobs_.at(id);
    node::OutputFrames frames{.next = job.output.size() + 1, .end = job.over()};
    const std::size_t from = std::max<std::size_t>(query.from, 1) - 1;
    if (from < job.output.size())
      frames.frames.push_back({.thread = job::kMainThread, .bytes = job.output.substr(from), .next = frames.next});
    answer([done = std::move(done), frames] { done(frames); });
  }
  void tasks(const job::JobId& id, const job::TaskQuery& query, std::function<void(Result<job::TaskPage>)> done) override {
    (void)jobs_.at(id);
    job::TaskPage page{.next = query.from + 1, .count = 2};
    page.tasks.push_back({.id = job::kMainThread, .task = query.from, .state = job::ThreadView::State::failed, .exit_code = 3});
    answer([done = std::move(done), page] { done(page); });
  }
  void manifest(const job::JobId&, std::function<void(Result<std::string>)> done) override {
    answer([done = std::move(done)] { done(std::string("a manifest")); });
  }
  Result<std::vector<node::JobEvent>> events(const job::JobId& id, std::uint64_t from, std::size_t limit) const override {
    std::vector<node::JobEvent> found;
    for (const node::JobEvent& event : jobs_.at(id).events)
      if (event.number >= from && found.size() < limit) found.push_back(event);
    return found;
  }
  Result<std::unique_ptr<node::Subscription>> watch(const job::JobId& id, std::function<void()> changed) override {
    if (!jobs_.contains(id)) return fail(Kind::not_found, "there is no such job");
    return std::unique_ptr<node::Subscription>(std::make_unique<Watcher>(jobs_.at(id), std::move(changed)));
  }
  std::vector<node::GridView> grids() const override { return grids_view; }
  void change_grids(node::GridOrder order, std::function<void(Result<std::string>)> done) override {
    orders.push_back(std::move(order));
    asio::post(io_, [done = std::move(done), answer = grid_answer] { done(answer); });
  }
  void stop() override { stopped = true; }

  std::vector<node::HostedJobView> hosted_view;
  std::vector<node::BalanceView> balance_view;
  std::vector<node::GridView> grids_view;
  std::vector<node::GridOrder> orders;
  Result<std::string> grid_answer = std::string("done");

 private:
  void change(const job::JobId& id, node::JobState state, std::function<void(Status)> done) {
    const bool known = jobs_.contains(id);
    const bool changes = known && jobs_.at(id).view.summary.state != state;
    if (changes) jobs_.at(id).view.summary.state = state;
    const Status answered = changes ? ok() : fail(known ? Kind::invalid : Kind::not_found, "this cannot be done with it");
    answer([done = std::move(done), answered] { done(answered); });
  }
  struct Watcher final : node::Subscription {
    Watcher(Job& watched, std::function<void()> call) : job(watched), changed(std::move(call)) { job.watchers.insert(&changed); }
    ~Watcher() override { job.watchers.erase(&changed); }
    Job& job;
    const std::function<void()> changed;
  };
  void answer(std::function<void()> call) {
    if (!mute) asio::post(io_, std::move(call));
  }

  asio::io_context& io_;
  std::map<job::JobId, Job> jobs_;
};

}  // namespace gw::gateway
