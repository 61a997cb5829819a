#include "peer/held_blobs.h"

#include <gtest/gtest.h>

namespace gw::peer {
namespace {

const job::JobId kJob{sha256(as_bytes("a job"))};
const Hash256 kHash = sha256(as_bytes("bytes"));

TEST(HeldBlobs, HoldsABlobUntilTheJobIsOver) {
  job::BlobReferences blobs({}, [](const job::JobId&) { return std::vector<job::PeerId>(); });
  HeldBlobs held(blobs);
  job::Actions out;
  const job::HomeBlobs access = held.access();
  access.put(kJob, kHash, "bytes", out);
  ASSERT_EQ(out.now.size(), 1u);
  EXPECT_EQ(std::get<job::StoreBlob>(out.now[0]).hash, kHash);
  EXPECT_FALSE(access.has(kHash));
  blobs.on_stored(kHash);
  EXPECT_TRUE(access.has(kHash));
  EXPECT_TRUE(blobs.is_shared(kHash, kJob));
  access.adopt(kJob, kHash);  // twice, as two tasks may leave the same
  held.release(kJob, out);
  EXPECT_FALSE(blobs.is_needed(kHash, kJob));
  held.release(kJob, out);
}

}  // namespace
}  // namespace gw::peer
