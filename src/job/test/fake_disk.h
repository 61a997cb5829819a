#pragma once
// The disk and the network of a machine under test: the test decides when blobs are stored, and reads the messages.

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "job/actions.h"
#include "job/images/blob_references.h"
#include "job/images/image_trees.h"

namespace gw::job::test {

// The holders of a job without other members.
inline std::vector<PeerId> nobody_else(const JobId&) { return {}; }
inline Time no_distance(const PeerId&) { return kNever; }

class FakeDisk {
 public:
  explicit FakeDisk(BlobReferences& references) : references_(references) {}

  // Adds a blob that another peer has sent. The caller tells the machine.
  Hash256 receive(const PeerId& from, const std::string& bytes, Actions& out) {
    const Hash256 hash = sha256(as_bytes(bytes));
    JobMessage::Blob blob;
    blob.set_hash(wire::bytes_of(hash));
    blob.set_bytes(bytes);
    GW_ASSERT(references_.on_blob(Time(0), from, blob, out).has_value());
    take(out);
    return hash;
  }

  // Carries out the machine's stores and drops. Returns its messages.
  std::vector<std::pair<PeerId, JobMessage>> take(Actions& out) {
    std::vector<std::pair<PeerId, JobMessage>> sent;
    for (std::vector<Action>* list : {&out.now, &out.later})
      for (Action& action : *list) {
        if (auto* store = std::get_if<StoreBlob>(&action)) {
          blobs[store->hash] = store->bytes.str();
          references_.on_stored(store->hash);
        }
        if (auto* drop = std::get_if<DropBlob>(&action)) blobs.erase(drop->hash);
        if (auto* load = std::get_if<LoadBlob>(&action)) loads.push_back(load->hash);
        if (auto* send = std::get_if<Send>(&action)) sent.emplace_back(send->to, std::move(*send->message.mutable_job()));
        if (auto* frame = std::get_if<FrameToWorker>(&action)) frames.push_back(std::move(frame->frame));
        if (auto* start = std::get_if<StartWorker>(&action)) workers.push_back(start->worker);
        if (auto* notify = std::get_if<Notify>(&action)) events.push_back(std::move(notify->event));
      }
    for (Record& record : out.records) {
      records.erase(record.key);
      if (record.value) records[record.key] = *record.value;
    }
    out = {};
    return sent;
  }

  // Gives a machine that fetches an image all parts of it from its host's blobs, as disk and trees would. Returns the machine's messages.
  std::vector<std::pair<PeerId, JobMessage>> deliver(const PeerId& from, const NewImage& image, ImageTrees& trees, Actions& out) {
    std::vector<std::pair<PeerId, JobMessage>> sent;
    const auto keep = [&](std::vector<std::pair<PeerId, JobMessage>> more) { std::ranges::move(more, std::back_inserter(sent)); };
    keep(take(out));
    for (bool progress = true; progress;) {
      progress = false;
      for (const auto& [hash, bytes] : image.fresh) {
        if (blobs.contains(hash)) continue;
        receive(from, bytes.str(), out);
        if (!blobs.contains(hash)) continue;  // not asked for yet
        trees.on_stored(hash, out);
        progress = true;
      }
      keep(take(out));
      for (const Hash256& hash : std::exchange(loads, {})) {
        trees.on_loaded(Time(0), hash, find(hash), out);
        progress = true;
      }
      keep(take(out));
    }
    return sent;
  }

  std::optional<std::string> find(const Hash256& hash) const {
    const auto found = blobs.find(hash);
    return found == blobs.end() ? std::nullopt : std::optional(found->second);
  }

  std::map<Hash256, std::string> blobs;
  std::vector<Hash256> loads;  // not answered by the test yet
  std::vector<wire::pb::ToWorker> frames;
  std::vector<WorkerId> workers;
  std::vector<Event> events;
  std::map<std::string, std::string> records;

 private:
  BlobReferences& references_;
};

}  // namespace gw::job::test
