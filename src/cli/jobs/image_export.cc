#include "cli/jobs/image_export.h"

#include <algorithm>

#include "job/authority/manifest.h"
#include "node/embedded/gate_state.h"
#include "node/jobs/job_files.h"
#include "node/worker/attachment.h"
#include "os/files/file.h"

namespace gw::cli {
namespace {

// The blobs of a daemon.
class RemoteBlobs final : public node::BlobReader {
 public:
  explicit RemoteBlobs(gateway::Client& client) : client_(client) {}
  Result<std::string> load(const Hash256& hash) override { return client_.load_blob(hash); }

 private:
  gateway::Client& client_;
};

Result<Bytes> load_module(const job::Manifest& manifest, node::BlobReader& blobs) {
  Bytes module;
  for (const Hash256& hash : manifest.module_chunks()) {
    GW_TRY(const std::string piece, blobs.load(hash));
    module.insert(module.end(), piece.begin(), piece.end());
  }
  if (sha256(module) != wire::hash_of(manifest.content().module().hash()))
    return fail(Kind::corrupt, "the pieces of the program do not make up the one that its manifest names");
  return module;
}

bool is_under(const std::string& path, const wire::pb::InputEntry& folder) {
  return folder.type() == wire::pb::InputEntry::DIRECTORY && path.size() > folder.path().size() && path.starts_with(folder.path()) &&
         path[folder.path().size()] == '/';
}

}  // namespace

wire::pb::JobSpec spec_of_manifest(const wire::pb::Manifest& manifest) {
  wire::pb::JobSpec spec;
  *spec.mutable_limits() = manifest.policy().limits();
  spec.set_checkpoint_every_ns(manifest.policy().checkpoint_every_ns());
  const wire::pb::InputEntry* last = nullptr;  // entries of a folder follow it
  for (const wire::pb::InputEntry& entry : manifest.config().inputs()) {
    if (last != nullptr && is_under(entry.path(), *last)) continue;
    last = &entry;
    spec.add_inputs()->set_guest(entry.path());
  }
  for (const std::string& output : manifest.config().outputs())
    spec.add_outputs()->set_guest(output.ends_with('/') ? output.substr(0, output.size() - 1) : output);
  spec.set_inputs_digest(node::digest_of_inputs({manifest.config().inputs().begin(), manifest.config().inputs().end()}));
  return spec;
}

Result<std::uint64_t> export_image(gateway::Client& client, const job::JobId& id, const std::optional<wire::pb::JobSpec>& spec,
                                   wire::Storage pages, const std::filesystem::path& file) {
  GW_TRY(const wire::pb::JobImage found, client.image(id));
  GW_TRY(const job::Manifest manifest, job::Manifest::check(as_bytes(found.manifest())));
  if (manifest.content().config().has_standard_input())
    return fail(Kind::unsupported,
                "job {0} reads its standard input from a file that is kept with the job and does not fit into an image: continue it with "
                "'godwit job resume {0}'",
                id.brief());
  RemoteBlobs blobs(client);
  GW_TRY(const Bytes module, load_module(manifest, blobs));
  GW_TRY(const wire::Image image, node::image_without_pages(wire::hash_of(found.root()), blobs));
  GW_TRY(wire::pb::GateState gate, node::gate_of(image));
  const bool from_file = spec && !spec->input_file().empty();  // read again from where the program has got to
  if (found.supplied_input() > gate.input_pieces() && !from_file)
    return fail(
        Kind::unsupported,
        "job {0} has been given standard input that it has not read yet, which does not fit into an image: continue it with 'godwit "
        "job resume {0}'",
        id.brief());
  GW_TRY(const job::StreamMarks stored, wire::read(found.stored()));
  gate = node::gate_for_another_home(std::move(gate), stored, {});
  gate.set_job(node::job_spec_for_image(spec ? *spec : spec_of_manifest(manifest.content())));
  GW_TRY(const wire::Image portable, node::with_gate(image, gate, module, pages, &blobs));
  GW_TRY_VOID(os::write_file_atomic(file, portable.encoded()));
  return portable.encoded().size();
}

}  // namespace gw::cli
