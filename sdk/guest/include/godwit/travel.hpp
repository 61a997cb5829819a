#ifndef GODWIT_TRAVEL_HPP
#define GODWIT_TRAVEL_HPP
// Values as bytes, for messages, calls and reports. Both sides are the same program, so the bytes need no names and no versions.
//
// Values that travel: numbers, enums and classes of such that can be copied byte by byte; std::string; containers, pairs, tuples, optionals and
// variants of what travels; and your own types with one function, found beside the type, for both directions:
//
//   template <class Archive>
//   void travel(Archive& archive, Scene& scene) { archive(scene.name, scene.triangles); }
//
// All other types, pointers and views above all, are a compile error that says so.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace godwit {

class writer;
class reader;

namespace detail {

template <class T>
concept has_travel = requires(writer& archive, T& value) { travel(archive, value); };

template <class T>
struct is_view : std::false_type {};
template <class C, class Traits>
struct is_view<std::basic_string_view<C, Traits>> : std::true_type {};
template <class T, std::size_t kExtent>
struct is_view<std::span<T, kExtent>> : std::true_type {};
template <class T>
struct is_view<std::reference_wrapper<T>> : std::true_type {};

// A pointer to a function means the same everywhere: all threads of a job run the same program.
template <class T>
inline constexpr bool is_address =
    (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>) || std::is_member_pointer_v<T> || std::is_null_pointer_v<T>;

template <class T>
concept copied_as_bytes = std::is_trivially_copyable_v<T> && !is_address<T> && !is_view<T>::value;

template <class T>
concept sequence = requires(T& value) {
  typename T::value_type;
  value.begin();
  value.end();
  value.size();
  value.clear();
  value.insert(value.end(), std::declval<typename T::value_type>());
};

// A sequence whose elements lie side by side: they are copied at once.
template <class T>
concept block = sequence<T> && copied_as_bytes<typename T::value_type> && requires(T& value) {
  { value.data() } -> std::same_as<typename T::value_type*>;
  value.resize(1);
};

template <class T>
concept map_like = sequence<T> && requires { typename T::mapped_type; };

// The elements of a sequence, which can be made one by one: those of a map have no const key.
template <class T>
struct element {
  using type = typename T::value_type;
};
template <map_like T>
struct element<T> {
  using type = std::pair<typename T::key_type, typename T::mapped_type>;
};

template <class T>
struct travels : std::bool_constant<has_travel<T> || copied_as_bytes<T>> {};

template <class T>
  requires(sequence<T> && !has_travel<T> && !copied_as_bytes<T>)
struct travels<T> : travels<typename element<T>::type> {};
template <class A, class B>
  requires(!copied_as_bytes<std::pair<A, B>>)
struct travels<std::pair<A, B>> : std::bool_constant<travels<std::remove_const_t<A>>::value && travels<B>::value> {};
template <class... Ts>
  requires(!copied_as_bytes<std::tuple<Ts...>>)
struct travels<std::tuple<Ts...>> : std::bool_constant<(travels<Ts>::value && ...)> {};
template <class... Ts>
  requires(!copied_as_bytes<std::variant<Ts...>>)
struct travels<std::variant<Ts...>> : std::bool_constant<(travels<Ts>::value && ...)> {};
template <class T>
  requires(!copied_as_bytes<std::optional<T>>)
struct travels<std::optional<T>> : travels<T> {};
template <class T, std::size_t kSize>
  requires(!copied_as_bytes<std::array<T, kSize>>)
struct travels<std::array<T, kSize>> : travels<T> {};

template <class T>
constexpr void require_travels() {
  static_assert(travels<T>::value,
                "godwit: a value of this type cannot travel to another thread. It is, or contains, a pointer or view, whose target stays "
                "behind, or it owns something in a way that is not known here. Write a function for it: template <class Archive> void "
                "travel(Archive& archive, YourType& value) { archive(value.first, value.second); }");
  static_assert(!travels<T>::value || std::is_default_constructible_v<T>,
                "godwit: a value of this type cannot travel to another thread: it needs a default constructor, with which it is made there");
}

}  // namespace detail

template <class T>
concept travels = detail::travels<T>::value;

// Appends values to bytes.
class writer {
 public:
  template <class... Ts>
  void operator()(const Ts&... values) {
    (put(values), ...);
  }
  void raw(const void* bytes, std::size_t size) { bytes_.append(static_cast<const char*>(bytes), size); }
  std::string take() { return std::move(bytes_); }
  std::size_t size() const { return bytes_.size(); }

 private:
  template <class T>
  void put(const T& value) {
    detail::require_travels<T>();
    if constexpr (detail::has_travel<T>) {
      travel(*this, const_cast<T&>(value));  // only read
    } else if constexpr (detail::copied_as_bytes<T>) {
      raw(&value, sizeof value);
    } else if constexpr (detail::sequence<T>) {
      put(static_cast<std::uint32_t>(value.size()));
      put_elements(value);
    } else {
      put_parts(value);
    }
  }
  template <class T>
  void put_elements(const T& sequence) {
    if constexpr (detail::block<T>) {
      raw(sequence.data(), sequence.size() * sizeof(typename T::value_type));
    } else {
      for (const auto& one : sequence) put(static_cast<const typename detail::element<T>::type&>(one));
    }
  }
  template <class A, class B>
  void put_parts(const std::pair<A, B>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class... Ts>
  void put_parts(const std::tuple<Ts...>& tuple) {
    std::apply([this](const Ts&... parts) { (*this)(parts...); }, tuple);
  }
  template <class T>
  void put_parts(const std::optional<T>& optional) {
    put(optional.has_value());
    if (optional) put(*optional);
  }
  template <class... Ts>
  void put_parts(const std::variant<Ts...>& variant) {
    put(static_cast<std::uint32_t>(variant.index()));
    std::visit([this](const auto& one) { this->put(one); }, variant);
  }
  template <class T, std::size_t kSize>
  void put_parts(const std::array<T, kSize>& array) {
    for (const T& one : array) put(one);
  }

  std::string bytes_;
};

// Takes values out of bytes. Reading more than there is ends the program: the two sides disagree about the types.
class reader {
 public:
  explicit reader(std::string_view bytes) : left_(bytes) {}
  template <class... Ts>
  void operator()(Ts&... values) {
    (get(values), ...);
  }
  template <class T>
  T next() {
    T value{};
    get(value);
    return value;
  }
  std::string_view raw(std::size_t size) {
    if (size > left_.size()) std::abort();
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }
  bool at_end() const { return left_.empty(); }

 private:
  template <class T>
  void get(T& value) {
    detail::require_travels<T>();
    if constexpr (detail::has_travel<T>) {
      travel(*this, value);
    } else if constexpr (detail::copied_as_bytes<T>) {
      std::memcpy(static_cast<void*>(&value), raw(sizeof value).data(), sizeof value);
    } else if constexpr (detail::sequence<T>) {
      get_elements(value, next<std::uint32_t>());
    } else {
      get_parts(value);
    }
  }
  template <class T>
  void get_elements(T& sequence, std::uint32_t count) {
    if constexpr (detail::block<T>) {
      const std::string_view bytes = raw(std::size_t{count} * sizeof(typename T::value_type));
      sequence.resize(count);
      if (count > 0) std::memcpy(sequence.data(), bytes.data(), bytes.size());
    } else {
      sequence.clear();
      for (std::uint32_t i = 0; i < count; i++) sequence.insert(sequence.end(), next<typename detail::element<T>::type>());
    }
  }
  template <class A, class B>
  void get_parts(std::pair<A, B>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class... Ts>
  void get_parts(std::tuple<Ts...>& tuple) {
    std::apply([this](Ts&... parts) { (*this)(parts...); }, tuple);
  }
  template <class T>
  void get_parts(std::optional<T>& optional) {
    optional.reset();
    if (next<bool>()) optional = next<T>();
  }
  template <class... Ts>
  void get_parts(std::variant<Ts...>& variant) {
    const auto index = next<std::uint32_t>();
    std::uint32_t candidate = 0;
    ((candidate++ == index ? void(variant = next<Ts>()) : void()), ...);
    if (index >= sizeof...(Ts)) std::abort();
  }
  template <class T, std::size_t kSize>
  void get_parts(std::array<T, kSize>& array) {
    for (T& one : array) get(one);
  }

  std::string_view left_;
};

template <class... Ts>
std::string to_bytes(const Ts&... values) {
  writer archive;
  archive(values...);
  return archive.take();
}

template <class T>
T from_bytes(std::string_view bytes) {
  reader archive(bytes);
  return archive.next<T>();
}

}  // namespace godwit

#endif
