#include "isolate/module.h"

namespace gw::isolate {

const Hash256& Module::hash() const {
  std::call_once(hashed_, [this] { hash_ = sha256(wasm_); });
  return hash_;
}

}  // namespace gw::isolate
