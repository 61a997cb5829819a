#pragma once
// Images taken apart into blobs, so that peers exchange only the pages that the other side lacks.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job/names.h"
#include "wire/image.h"

namespace gw::job {

struct Blob {
  Hash256 hash;
  std::string bytes;
};

// Blobs by the hash of the page they hold.
using PageBlobs = std::map<Hash256, Hash256>;

struct SplitImage {
  Blob parts;               // a pb::ImageManifest
  std::vector<Blob> fresh;  // pages the image brought along
  PageBlobs pages;          // all of them
  std::uint64_t determinants = 0;
  std::uint64_t epoch = 0;
  std::uint64_t input_pieces = 0;  // of standard input, that it contains
  std::uint64_t last_fork = 0;     // sequence of the last fork in its outbox
  ThreadId thread;
};

// Which blob holds the page of this hash, if one does.
using FindPage = std::function<std::optional<Hash256>(const Hash256&)>;

// Takes an image apart. Kind::corrupt if it cannot be read, or lacks a page that is not found either.
Result<SplitImage> split_image(Bytes encoded, const FindPage& find);

// The blobs of pages that parts refer to. Kind::corrupt if these bytes are no parts.
Result<std::vector<Hash256>> page_blobs(const std::string& parts);
// The same with the hash of the page each holds. Kind::corrupt as above.
Result<PageBlobs> pages_by_hash(const std::string& parts);

// Puts an image together again. `blobs` has the bytes of all page blobs, in the order of page_blobs().
Result<Bytes> join_image(const std::string& parts, const std::vector<std::string>& blobs);

}  // namespace gw::job
