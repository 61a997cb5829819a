// Text pasted as an invitation. An accepted invitation reads the same when it is written again.

#include "wire/base32.h"
#include "wire/invitation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gw;
  const std::string_view text = as_text({data, size});
  if (const auto bytes = wire::parse_base32(text)) {
    std::string small(text);
    for (char& letter : small)
      if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    GW_ASSERT(wire::base32(*bytes) == small);
  }
  const auto parsed = wire::parse_invitation(text);
  if (parsed) GW_ASSERT(wire::parse_invitation(wire::text_of(*parsed)).value() == *parsed);
  // The same as what lies inside: a fuzzer finds no check sums.
  if (size > 0) (void)wire::parse_invitation(std::string(wire::kInvitationScheme) + wire::base32({data, size}));
  return 0;
}
