// What a peer wants done.

#include <boost/asio/post.hpp>

#include "base/check.h"
#include "base/log.h"
#include "base/metrics.h"
#include "node/driver/driver.h"
#include "node/worker/attachment.h"
#include "wire/peer_messages.h"

namespace gw::node {
namespace {

using metrics::Metric;

void count(const job::Event& event) {
  if (std::holds_alternative<job::JobAccepted>(event)) metrics::count(Metric::jobs_accepted);
  if (std::holds_alternative<job::JobOver>(event)) metrics::count(Metric::jobs_over);
  if (std::holds_alternative<job::ThreadPlaced>(event)) metrics::count(Metric::threads_placed);
  if (std::holds_alternative<job::HostLost>(event)) metrics::count(Metric::hosts_lost);
  if (const auto* seen = std::get_if<job::PeerSeen>(&event)) metrics::count(seen->alive ? Metric::peers_came : Metric::peers_went);
}

std::vector<os::UniqueFd> shared(const std::vector<os::SealedMemory>& memories) {
  std::vector<os::UniqueFd> descriptors;
  for (const os::SealedMemory& memory : memories)
    if (auto descriptor = memory.share()) descriptors.push_back(*std::move(descriptor));
  return descriptors;
}

}  // namespace

// --- network

void Driver::act(job::Send& send) {
  const auto bytes = wire::encode(send.message);
  if (!bytes) return log::error(kArea, "a message of ours is too long", kv("why", bytes.error().detail));
  const auto lane = send.message.job().has_blob() ? transport::Lane::bulk : transport::Lane::control;
  metrics::count(Metric::messages_sent);
  dialer_->send(send.to.hash, send.contact, {lane, *bytes});
}

void Driver::act(job::DialBack& dial) {
  const auto told = [this, peer = dial.peer](const std::string& address, bool reached) {
    turn([&](job::Time now, Actions& out) { peer_->on_connection(now, peer, peer::DialledBack{address, reached}, out); });
  };
  const auto met = transport_->connection_origin(dial.peer.hash);
  if (!met || met->way == transport::Way::relayed) return post([told] { told("", false); });
  const Endpoint where(met->remote.address(), dial.port);
  transport_->probe(where, dial.peer.hash, [told, where](const Status& there) { told(text_of(where), there.has_value()); });
}

void Driver::act(job::Publish& publish) {
  std::set<transport::PeerId> anchors;
  for (const wire::Anchor& anchor : publish.contact.anchors) anchors.insert(anchor.peer.hash);
  transport_->keep(std::move(anchors));
  dialer_->set_self(publish.contact);
}

// The transport tells at once that it has ended, and nothing may come back inside a turn.
void Driver::act(job::Disconnect& disconnect) {
  post([this, ended = std::move(disconnect)] { transport_->disconnect(ended.peer.hash, ended.why); });
}

// --- workers

void Driver::act(job::StartWorker& start) {
  const job::WorkerId id = start.worker;
  const auto ready = [this, id] { on_worker_ready(id); };
  auto process = pool_.take();
  auto hosted = process ? HostedWorker::make(io_, *std::move(process), ready) : Result<std::unique_ptr<HostedWorker>>(process.error());
  if (!hosted) return post([this, id, why = hosted.error().detail] { on_worker_lost(id, why); });
  log::info(kArea, "worker started", kv("job", start.job.brief()), kv("worker", id.value()), kv("pid", (*hosted)->pid()));
  metrics::count(Metric::workers_started);
  (*hosted)->hold(share_of(start.job));
  workers_.emplace(id, Worker{*std::move(hosted), start.job, nullptr});
  // The next one shall not wait either.
  post([this] {
    if (Status refilled = pool_.refill(); !refilled) log::warn(kArea, "no spare worker", kv("why", refilled.error().detail));
  });
}

void Driver::act(job::KillWorker& kill) {
  if (!kill.broken_rule.empty()) log::warn(kArea, "worker refused", kv("worker", kill.worker.value()), kv("why", kill.broken_rule));
  workers_.erase(kill.worker);
}

void Driver::act(job::FrameToWorker& frame) {
  const auto found = workers_.find(frame.worker);
  if (found == workers_.end()) return;
  HostedWorker& worker = *found->second.process;
  if (frame.beside.empty()) return worker.send(std::move(frame.frame), {});
  const bool load = frame.frame.has_load();
  const HostedWorker::Position position = worker.reserve(std::move(frame.frame));
  disk_.with_blobs([this, id = frame.worker, position, load, beside = std::move(frame.beside)](BlobStore& blobs) {
    auto memories = std::make_shared<Result<std::vector<os::SealedMemory>>>(std::vector<os::SealedMemory>());
    for (const job::Attachment& what : beside) {
      auto memory = assemble(what, blobs);
      if (memory) {
        (*memories)->push_back(*std::move(memory));
      } else {
        *memories = memory.error();
        break;
      }
    }
    if (load && *memories) {
      GW_ASSERT(beside.front().form == job::Attachment::Form::pieces);  // so assemble() has checked the whole
      auto native = code_.find(beside.front().whole, (*memories)->front().bytes(), isolate::CodeKind::start);
      if (native) (*memories)->push_back(*std::move(native));
    }
    disk_.answer([this, id, position, memories] { on_attachments_ready(id, position, std::move(*memories)); });
  });
}

void Driver::on_attachments_ready(job::WorkerId id, HostedWorker::Position position, Result<std::vector<os::SealedMemory>> memories) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  Worker& worker = found->second;
  if (!memories) return on_worker_lost(id, memories.error().detail);
  wire::pb::ToWorker& frame = worker.process->reserved(position);
  if (frame.has_load()) frame.mutable_load()->set_has_code(memories->size() > 1);
  const bool load = frame.has_load();
  worker.process->complete(position, shared(*memories));
  if (load) worker.module = std::make_shared<const os::SealedMemory>(std::move(memories->front()));
}

void Driver::on_worker_ready(job::WorkerId id) {
  const auto found = workers_.find(id);
  if (found == workers_.end()) return;
  for (WorkerProcess::Received& received : found->second.process->take()) {
    if (received.frame.has_loaded()) after_loaded(found->second, received.frame.loaded());
    peer::WorkerFrame frame{.frame = std::move(received.frame)};
    if (received.memory) frame.image.assign(received.memory->bytes().begin(), received.memory->bytes().end());
    turn([&](job::Time now, Actions& out) { peer_->on_worker(now, id, std::move(frame), out); });
    if (!workers_.contains(id)) return;  // it broke a rule
  }
  if (const auto& death = found->second.process->death()) return on_worker_lost(id, death->sentence);
  arm();
}

void Driver::on_worker_lost(job::WorkerId id, std::string why) {
  metrics::count(Metric::workers_lost);
  log::warn(kArea, "worker lost", kv("worker", id.value()), kv("why", why));
  workers_.erase(id);
  turn([&](job::Time now, Actions& out) { peer_->on_worker(now, id, peer::WorkerDied{why}, out); });
}

// The engine has refused code from the cache: the next worker shall find better.
void Driver::after_loaded(Worker& worker, const wire::pb::FromWorker::Loaded& loaded) {
  const auto module = std::exchange(worker.module, nullptr);
  if (!loaded.code_refused() || module == nullptr) return;
  disk_.with_blobs([this, module](BlobStore&) { code_.replace(module->bytes(), isolate::CodeKind::start); });
}

// --- disk

void Driver::act(job::StoreBlob& store) {
  metrics::count(Metric::blobs_stored);
  disk_.store(std::move(store));
}

void Driver::act(job::Persist& persist) {
  metrics::count(Metric::record_batches);
  disk_.persist(std::move(persist));
}

void Driver::act(job::DropOutput& drop) {
  job_views_->forget(drop.job);
  output_thread_.add([this, job = drop.job] { output_.forget(job); });
  disk_.drop_output(drop.job);
}

void Driver::act(job::LoadBlob& load) {
  metrics::count(Metric::blobs_loaded);
  disk_.load(load.hash);
}

void Driver::act(job::DropBlob& drop) {
  metrics::count(Metric::blobs_dropped);
  disk_.drop(drop.hash);
}

// --- people

void Driver::act(job::Notify& notify) {
  count(notify.event);
  if (const auto* refused = std::get_if<job::PeerRefused>(&notify.event))
    log::warn(kArea, "peer refused", kv("peer", refused->peer.hash.hex()), kv("why", refused->sentence));
  if (const auto* damaged = std::get_if<job::RecordsDamaged>(&notify.event))
    log::error(kArea, "records are damaged", kv("what", damaged->sentence));
  if (const auto* seen = std::get_if<job::PeerSeen>(&notify.event))
    log::info(kArea, seen->alive ? "peer is there" : "peer is gone", kv("peer", seen->peer.hash.hex()));
  job_views_->on_event(std::chrono::system_clock::now(), notify.event);
  answer_requests(notify.event);
}

}  // namespace gw::node
