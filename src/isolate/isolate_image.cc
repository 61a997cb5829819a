// Saving and restoring isolates.

#include "isolate/files/file_pages.h"
#include "isolate/isolate.h"
#include "isolate/memory/memory_history.h"
#include "isolate/memory/memory_snapshot.h"
#include "isolate/memory/memory_watch.h"
#include "isolate/memory/page_advice.h"

namespace gw::isolate {
namespace {

// The returned bytes are what the pages point to.
std::vector<Bytes> compress(std::vector<wire::ImagePage>& pages) {
  std::vector<Bytes> storage;
  storage.reserve(pages.size());
  for (wire::ImagePage& page : pages) {
    if (page.storage != wire::Storage::raw) continue;
    auto shorter = wire::compress_page(page.stored);
    if (!shorter) continue;
    storage.push_back(*std::move(shorter));
    page.storage = wire::Storage::zstd;
    page.stored = storage.back();
  }
  return storage;
}

// Room for an image, with few page faults to come.
Result<wire::ImageMemory> make_memory(std::size_t size) {
  wire::ImageMemory memory = wire::make_image_memory(size);
  prefer_huge_pages(memory.bytes);
  return memory;
}

}  // namespace

void Isolate::append_file_pages(wire::ImageContent& content, const MemoryHistory* history) {
  static const std::unordered_set<Hash256> kNone;
  auto pages = hash_file_pages(wasi_.files(), content.parent ? history->file_hashes() : kNone);
  content.pages.insert(content.pages.end(), pages.begin(), pages.end());
}

Result<Isolate::Core> Isolate::core() {
  Core core;
  core.phase = phase_;
  core.memory_pages = memory_pages();
  core.wasi = wasi_.saved_state();
  GW_TRY(core.globals, globals());
  return core;
}

Result<std::vector<wire::GlobalValue>> Isolate::globals() {
  std::vector<wire::GlobalValue> values;
  const auto& types = module_->info().globals;
  for (std::size_t i = 0; i < types.size(); i++) {
    GW_TRY(wire::GlobalValue value, instance_->global(fmt::format("godwit.g{}", i), types[i]));
    values.push_back(value);
  }
  return values;
}

Result<wire::Image> Isolate::save(SaveOptions options) {
  return thread_.call([&] { return save_here(options); });
}

Result<wire::Image> Isolate::save_here(const SaveOptions& options) {
  if (control_->state() != RunState::stopped)
    return fail(Kind::invalid, "only an isolate that is stopped, and has not ended, can be saved");
  if (options.pages == SaveOptions::Pages::changed && !history_)
    return fail(Kind::invalid, "there is no earlier image to save the changes to: save all pages first, with tracking");
  auto memory = instance_->memory();
  // Given up if anything fails from here on: the writes counted so far are lost then.
  std::unique_ptr<MemoryHistory> history = std::move(history_);
  GW_TRY(auto global_values, globals());
  wire::ImageContent content{.module_hash = module_->hash(),
                             .phase = phase_,
                             .memory_pages = memory_pages(),
                             .file_pages = static_cast<std::uint32_t>(wasi_.files().pages()),
                             .globals = std::move(global_values),
                             .wasi_state = encode(wasi_.saved_state()),
                             .job_state = options.job_state,
                             .parent = {},
                             .module_wasm = options.include_module == SaveOptions::IncludeModule::yes ? module_->wasm() : ByteView{},
                             .pages = {}};
  if (options.pages == SaveOptions::Pages::changed) {
    content.parent = history->image_id();
    GW_TRY(content.pages, history->changed_pages(memory));
  } else {
    if (options.track == SaveOptions::Track::yes) {
      if (snapshot_) snapshot_->populate(memory);
      GW_TRY(history, MemoryHistory::begin(engine_.memory_watch(), memory));
    }
    content.pages =
        hash_pages(engine_.memory_watch(), memory, snapshot_ ? std::span(snapshot_->pages()) : std::span<const std::uint32_t>{});
  }
  append_file_pages(content, history.get());
  std::vector<Bytes> compressed;
  if (options.compression == SaveOptions::Compression::zstd) compressed = compress(content.pages);
  const std::size_t size = wire::Image::encoded_size(content);
  GW_TRY(wire::ImageMemory room, options.make_memory ? options.make_memory(size) : make_memory(size));
  GW_TRY(wire::Image image, wire::Image::encode(content, std::move(room)));
  if (options.track == SaveOptions::Track::yes) {
    history->remember(image);
    history_ = std::move(history);
  }
  return image;
}

Result<std::unique_ptr<Isolate>> Isolate::restore(Engine& engine, PoolThread& thread, std::shared_ptr<const Module> module,
                                                  const RestoreFrom& from, Limits limits, IsolateHost host) {
  const wire::ImageContent& content = from.image.content();
  if (content.module_hash != module->hash())
    return fail(Kind::invalid, "the image is of another module: it wants {}, this one is {}", content.module_hash.hex(),
                module->hash().hex());
  GW_TRY(WasiState wasi, decode_wasi_state(content.wasi_state));
  GW_TRY_VOID(load_file_pages(from.image, from.ancestors, wasi.files));
  Core core{content.phase, content.memory_pages, content.globals, std::move(wasi)};
  return make_from(engine, thread, std::move(module), limits, host, core, [&](WasmInstance& instance) {
    return load_pages(engine.memory_watch(), from.image, from.ancestors, instance.memory());
  });
}

}  // namespace gw::isolate
