#include "node/jobs/task_output_files.h"

namespace gw::node {

void TaskOutputFiles::take(const wire::pb::Effect::OutputFile& piece) {
  if (failures_.contains(piece.thread())) return;
  if (const Status added = add(piece); !added) {
    failures_.emplace(piece.thread(), added.error().detail);
    open_.erase(piece.thread());
  }
}

Status TaskOutputFiles::add(const wire::pb::Effect::OutputFile& piece) {
  std::unique_ptr<OutputFiles>& files = open_[piece.thread()];
  if (!files) {
    GW_TRY(std::vector<Mount> mounts, mounts_of_(piece.thread()));
    std::error_code failure;  // shows when a file is written
    for (const Mount& mount : mounts)
      if (mount.host.has_parent_path()) std::filesystem::create_directories(mount.host.parent_path(), failure);
    files = std::make_unique<OutputFiles>(std::move(mounts));
  }
  GW_TRY_VOID(files->take(piece));
  if (!piece.last()) return ok();
  GW_TRY_VOID(files->place());
  ++placed_;
  open_.erase(piece.thread());
  return ok();
}

void TaskOutputFiles::finish() {
  for (const auto& [thread, files] : open_) failures_.emplace(thread, "an output file came only in part");
  open_.clear();
}

}  // namespace gw::node
