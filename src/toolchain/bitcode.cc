#include "toolchain/bitcode.h"

#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "os/process/process.h"
#include "toolchain/handler_fix.h"
#include "toolchain/llvm_library.h"
#include "toolchain/thread_locals.h"

namespace gw::toolchain {
namespace {

using Value = LlvmLibrary::Value;

constexpr std::chrono::minutes kRewriteTimeout{10};
constexpr std::size_t kMaxMessageBytes = 1u << 20;

constexpr std::string_view kFeatures = "target-features";
// Clang makes static objects safe for threads only if the target has these (clang.h). The code must not use them.
constexpr std::array<std::string_view, 2> kHiddenFeatures = {"+atomics,", "+bulk-memory,"};

bool hide_features(const LlvmLibrary& llvm, LlvmLibrary::Context context, Value function) {
  const auto key_bytes = static_cast<unsigned>(kFeatures.size());
  LlvmLibrary::Attribute given = llvm.GetStringAttributeAtIndex(function, LlvmLibrary::kOfFunction, kFeatures.data(), key_bytes);
  if (!given) return false;
  unsigned size = 0;
  const char* const value = llvm.GetStringAttributeValue(given, &size);
  std::string features(value, size);
  features += ',';
  for (std::string_view hidden : kHiddenFeatures)
    if (const std::size_t at = features.find(hidden); at != std::string::npos) features.erase(at, hidden.size());
  if (!features.empty()) features.pop_back();
  if (features == std::string_view(value, size)) return false;
  llvm.RemoveStringAttributeAtIndex(function, LlvmLibrary::kOfFunction, kFeatures.data(), key_bytes);
  llvm.AddAttributeAtIndex(
      function, LlvmLibrary::kOfFunction,
      llvm.CreateStringAttribute(context, kFeatures.data(), key_bytes, features.data(), static_cast<unsigned>(features.size())));
  return true;
}

// LLVM's own would print the message and end the process.
void ignore_diagnostic(void* /*diagnostic*/, void* /*context*/) {}

Status rewrite_file(const LlvmLibrary& llvm, const std::string& path) {
  LlvmLibrary::Context context = llvm.ContextCreate();
  llvm.ContextSetDiagnosticHandler(context, ignore_diagnostic, nullptr);
  LlvmLibrary::Buffer buffer = nullptr;
  LlvmLibrary::Module module = nullptr;
  char* error = nullptr;
  if (llvm.CreateMemoryBufferWithContentsOfFile(path.c_str(), &buffer, &error) != 0) return fail(Kind::internal, "cannot read {}", path);
  if (llvm.ParseBitcodeInContext2(context, buffer, &module) != 0) return fail(Kind::corrupt, "{} is not LLVM bitcode", path);
  LlvmLibrary::Builder builder = llvm.CreateBuilderInContext(context);
  bool changed = fix_handlers(llvm, builder, module);
  GW_TRY(const bool separated, separate_thread_locals(llvm, context, builder, module));
  changed |= separated;
  for (Value f = llvm.GetFirstFunction(module); f; f = llvm.GetNextFunction(f)) changed |= hide_features(llvm, context, f);
  if (changed && llvm.WriteBitcodeToFile(module, path.c_str()) != 0) return fail(Kind::internal, "cannot write {}", path);
  return ok();
}

Status rewrite_files(const std::vector<std::filesystem::path>& files) {
  GW_TRY(const LlvmLibrary llvm, LlvmLibrary::load());
  for (const auto& file : files) GW_TRY_VOID(rewrite_file(llvm, file.string()));
  return ok();
}

}  // namespace

Status rewrite_bitcode(const std::vector<std::filesystem::path>& bitcode) {
  if (bitcode.empty()) return ok();
  // The child answers with the sentence that says what went wrong, or with nothing.
  auto child = os::run_forked(
      [&] {
        const Status status = rewrite_files(bitcode);
        return status ? Bytes() : Bytes(status.error().detail.begin(), status.error().detail.end());
      },
      kRewriteTimeout, kMaxMessageBytes);
  if (!child) return fail(child.error().kind, "the rewriting of bitcode {}", child.error().detail);
  if (!child->succeeded())
    return fail(Kind::internal, "the rewriting of bitcode ended with code {}, signal {}:\n{}", child->exit_code, child->signal, child->err);
  if (!child->out.empty()) return fail(Kind::internal, "the rewriting of bitcode failed: {}", child->out);
  return ok();
}

}  // namespace gw::toolchain
