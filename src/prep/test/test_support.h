#pragma once
// Modules in wasm text, and ways to look into them, for the tests of the passes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "prep/analysis/call_graph.h"
#include "prep/analysis/sites.h"
#include "prep/ir.h"
#include "wire/wasm/wasm_binary.h"

namespace gw::prep::test {

enum class Names : std::uint8_t { stripped, kept };

// A module parsed from folded wasm text: (module ...).
class TextModule {
 public:
  explicit TextModule(const std::string& text) : module_(BinaryenModuleParse(text.c_str())) {
    BinaryenModuleSetFeatures(module_, BinaryenFeatureAll());
  }
  TextModule(const TextModule&) = delete;
  TextModule& operator=(const TextModule&) = delete;
  ~TextModule() { BinaryenModuleDispose(module_); }

  BinaryenModuleRef ref() const { return module_; }
  bool is_valid() const { return BinaryenModuleValidate(module_); }
  bool has(const char* function) const { return BinaryenGetFunction(module_, function) != nullptr; }
  Expr body(const char* function) const { return BinaryenFunctionGetBody(BinaryenGetFunction(module_, function)); }

  // The n-th node of a kind in a function, in pre-order; null if there are fewer.
  Expr find(const char* function, Node node, unsigned n = 0) const {
    Expr found = nullptr;
    walk(body(function), [&](Expr e) {
      if (is(e, node) && n-- == 0) found = e;
    });
    return found;
  }

  Bytes wasm(Names names = Names::kept) const {
    BinaryenSetDebugInfo(names == Names::kept);
    const BinaryenModuleAllocateAndWriteResult written = BinaryenModuleAllocateAndWrite(module_, nullptr);
    const std::unique_ptr<void, decltype(&std::free)> binary(written.binary, &std::free);
    const auto* bytes = static_cast<const std::uint8_t*>(written.binary);
    return Bytes(bytes, bytes + written.binaryBytes);
  }

 private:
  BinaryenModuleRef module_;
};

inline Bytes assemble(const std::string& text, Names names = Names::kept) { return TextModule(text).wasm(names); }

inline unsigned count(Expr root, Node node) {
  unsigned found = 0;
  walk(root, [&](Expr e) { found += is(e, node) ? 1 : 0; });
  return found;
}

// The names of the functions that are called, in the order of evaluation.
inline std::vector<std::string> calls_in(Expr root) {
  std::vector<std::string> calls;
  auto visit = [&](auto& self, Expr e) -> void {
    for_each_child(e, [&](Expr child) { self(self, child); });
    if (is(e, Node::call)) calls.emplace_back(BinaryenCallGetTarget(e));
  };
  visit(visit, root);
  return calls;
}

// Functions that reach the poll marker or an import that may block.
inline SiteRules rules_of(const CallGraph& graph) {
  std::vector<bool> seeds;
  for (const CallGraph::Function& function : graph.functions()) seeds.push_back(function.is_poll_marker || function.blocking_import);
  return SiteRules(graph, graph.callers_of(std::move(seeds)));
}

inline std::vector<std::string> export_names(ByteView wasm) {
  std::vector<std::string> names;
  for (const auto exports = wire::read_exports(wasm).value(); const wire::Export& symbol : exports) names.push_back(symbol.name);
  return names;
}

}  // namespace gw::prep::test
