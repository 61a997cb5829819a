#pragma once
// Strong ids: integers that name things. Ids of different kinds do not mix, and none does arithmetic.
//
//   struct IsolateTag;
//   using IsolateId = Id<IsolateTag>;

#include <compare>
#include <cstdint>
#include <functional>

namespace gw {

template <class Tag, class Rep = std::uint64_t>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(Rep value) : value_(value) {}
  constexpr Rep value() const { return value_; }
  auto operator<=>(const Id&) const = default;

 private:
  Rep value_{};
};

}  // namespace gw

template <class Tag, class Rep>
struct std::hash<gw::Id<Tag, Rep>> {
  std::size_t operator()(gw::Id<Tag, Rep> id) const noexcept { return std::hash<Rep>{}(id.value()); }
};
