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
  return thread_.call([&] { return save_here(options, wasi_.saved_state()); });
}

Result<wire::Image> Isolate::save_here(const SaveOptions& options, const WasiState& state) {
  if (control_->state() != RunState::stopped)
    return fail(Kind::invalid, "only an isolate that is stopped, and has not ended, can be saved");
  if (options.pages == SaveOptions::Pages::changed && !history_)
    return fail(Kind::invalid, "there is no earlier image to save the changes to: save all pages first, with tracking");
  // Given up if anything fails from here on: the writes counted so far are lost then.
  std::unique_ptr<MemoryHistory> history = std::move(history_);
  GW_TRY(auto global_values, globals());
  wire::ImageContent content{.module_hash = module_->hash(),
                             .phase = phase_,
                             .memory_pages = memory_pages(),
                             .file_pages = static_cast<std::uint32_t>(wasi_.files().pages()),
                             .globals = std::move(global_values),
                             .wasi_state = encode(state),
                             .job_state = options.job_state,
                             .module_wasm = options.include_module == SaveOptions::IncludeModule::yes ? module_->wasm() : ByteView{},
                             .pages = {}};
  GW_TRY(ChangedPages changes, pages_to_save(options, history));
  content.pages = std::move(changes.pages);
  content.nodes_elsewhere = std::move(changes.nodes_elsewhere);
  std::vector<Bytes> compressed;
  if (options.compression == SaveOptions::Compression::zstd) compressed = compress(content.pages);
  GW_TRY(wire::Image image, wire::Image::encode(content, options.make_memory ? options.make_memory : make_memory));
  if (options.track == SaveOptions::Track::yes) {
    history->remember(image.nodes(), image.content().pages);
    history_ = std::move(history);
  }
  return image;
}

// `history`: of the image before; replaced if writes are to be tracked from here on.
Result<ChangedPages> Isolate::pages_to_save(const SaveOptions& options, std::unique_ptr<MemoryHistory>& history) {
  static const std::unordered_set<Hash256> kNone;
  auto memory = instance_->memory();
  if (options.pages == SaveOptions::Pages::changed) {
    GW_TRY(ChangedPages changes, history->changed_pages(memory));
    history->add_file_pages(hash_file_pages(wasi_.files(), history->file_hashes()), changes);
    return changes;
  }
  if (options.track == SaveOptions::Track::yes) {
    if (snapshot_) snapshot_->populate(memory);
    GW_TRY(history, MemoryHistory::begin(engine_.memory_watch(), memory));
  }
  ChangedPages all;
  all.pages = hash_pages(engine_.memory_watch(), memory, snapshot_ ? std::span(snapshot_->pages()) : std::span<const std::uint32_t>{});
  const std::vector<wire::ImagePage> of_files = hash_file_pages(wasi_.files(), kNone);
  all.pages.insert(all.pages.end(), of_files.begin(), of_files.end());
  return all;
}

Result<std::unique_ptr<Isolate>> Isolate::restore(Engine& engine, PoolThread& thread, std::shared_ptr<const Module> module,
                                                  const RestoreFrom& from, Limits limits, IsolateHost host) {
  const wire::ImageContent& content = from.image.content();
  if (content.module_hash != module->hash())
    return fail(Kind::invalid, "the image is of another module: it wants {}, this one is {}", content.module_hash.hex(),
                module->hash().hex());
  GW_TRY(const std::vector<wire::ImagePage> pages, list_pages(from.image, from.packs));
  const auto of_memory = pages_of_memory(pages);
  GW_TRY(WasiState wasi, decode_wasi_state(content.wasi_state));
  GW_TRY_VOID(load_file_pages(from.image, std::span(pages).subspan(of_memory.size()), from.packs, wasi.files));
  Core core{content.phase, content.memory_pages, content.globals, std::move(wasi)};
  GW_TRY(auto isolate, make_from(engine, thread, std::move(module), limits, host, core, [&](WasmInstance& instance) {
           return load_pages(engine.memory_watch(), of_memory, from.packs, instance.memory());
         }));
  if (from.track == SaveOptions::Track::yes) {
    GW_TRY_VOID(thread.call([&]() -> Status {
      GW_TRY(isolate->history_, MemoryHistory::begin(engine.memory_watch(), isolate->instance_->memory()));
      isolate->history_->remember(from.image.nodes(), pages);
      return ok();
    }));
  }
  return isolate;
}

}  // namespace gw::isolate
