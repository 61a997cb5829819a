#include "cli/jobs/peer_names.h"

#include <gtest/gtest.h>

namespace gw::cli {
namespace {

TEST(PeerNames, APeerIsShownWithItsMachineIfThatIsKnown) {
  const job::PeerId known{sha256(as_bytes("known"))}, other{sha256(as_bytes("other"))};
  const PeerNames names({{.id = known, .name = "lab-3"}});
  EXPECT_EQ(names.text_of(known), "lab-3 (" + known.brief() + ")");
  EXPECT_EQ(names.text_of(other), other.brief());
  EXPECT_EQ(names.text_of(std::nullopt), "-");
  EXPECT_EQ(names.name_of(other), "");
}

}  // namespace
}  // namespace gw::cli
