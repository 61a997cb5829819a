#include "job/images/image_fetches.h"

namespace gw::job {

Status ImageFetches::begin(Time now, const Name& name, const Hash256& root, const PeerId& from, Actions& out) {
  cancel(name, out);
  const ImageTrees::Name image{name.first, root};
  GW_TRY_VOID(trees_.want(now, image, from, out));
  fetches_.emplace(name, root);
  waiting_[image].insert(name);
  return ok();
}

void ImageFetches::cancel(const Name& name, Actions& out) {
  const auto found = fetches_.find(name);
  if (found == fetches_.end()) return;
  const ImageTrees::Name image{name.first, found->second};
  const auto waiting = waiting_.find(image);
  waiting->second.erase(name);
  if (waiting->second.empty()) waiting_.erase(waiting);
  fetches_.erase(found);
  trees_.release(image, out);
}

const Hash256* ImageFetches::find(const Name& name) const {
  const auto found = fetches_.find(name);
  return found == fetches_.end() ? nullptr : &found->second;
}

std::vector<ImageFetches::Done> ImageFetches::on_change(const ImageTrees::Change& change, Actions& out) {
  std::vector<Done> done;
  const auto found = waiting_.find(change.name);
  if (found == waiting_.end()) return done;
  for (const Name& name : std::set<Name>(found->second)) {
    Status status = ok();
    if (change.what == ImageTrees::Change::What::lost) {
      status = fail(Kind::not_found, "{}", change.sentence);
    } else if (admit_) {
      const bool complete = change.what == ImageTrees::Change::What::complete;
      status = admit_(name, complete ? trees_.size(change.name) : trees_.size_at_most(change.name));
    }
    if (!status) {
      cancel(name, out);
      done.push_back({name, status.error()});
    } else if (trees_.complete(change.name)) {
      fetches_.erase(name);
      const auto waiting = waiting_.find(change.name);
      waiting->second.erase(name);
      if (waiting->second.empty()) waiting_.erase(waiting);
      done.push_back({name, change.name.root});
    }
  }
  return done;
}

}  // namespace gw::job
