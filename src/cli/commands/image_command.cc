#include <fmt/core.h>

#include <map>
#include <memory>
#include <set>

#include "cli/commands/commands.h"
#include "cli/console/quantity.h"
#include "cli/jobs/image_file.h"
#include "wire/image/image.h"

namespace gw::cli {
namespace {

Result<wire::Image> load(const std::string& file) {
  GW_TRY(const bool job_file, is_job_file(file));
  if (job_file)
    return fail(Kind::invalid, "{} is a job file of --checkpoint-every, not an image: print its output with 'godwit image output {}'", file,
                file);
  GW_TRY(auto image, read_image(file));
  GW_TRY_VOID(image.verify_pages());
  return image;
}

Rows rows_of(const wire::Image& image) {
  const wire::ImageContent& content = image.content();
  std::uint64_t stored = 0;
  for (const wire::ImagePage& page : content.pages) stored += page.stored.size();
  const std::uint64_t module_bytes = content.module_wasm.size();
  Rows rows;
  rows.add("id", "image", image.id().hex())
      .add("module", "module", content.module_hash.hex())
      .add("module_bytes", "module included", module_bytes, module_bytes == 0 ? "no" : human_bytes(module_bytes))
      .add("phase", "phase", content.phase == wire::Phase::fresh ? "fresh" : "suspended")
      .add("nodes", "nodes", image.nodes().size())
      .add("nodes_elsewhere", "nodes elsewhere", content.nodes_elsewhere.size())
      .add("memory_pages", "memory", content.memory_pages, human_bytes(std::uint64_t{content.memory_pages} * wire::kPageBytes))
      .add("nonzero_pages", "pages in use", content.pages.size(),
           fmt::format("{} of {}", content.pages.size(), content.memory_pages + content.file_pages))
      .add("file_pages", "files", content.file_pages, human_bytes(std::uint64_t{content.file_pages} * wire::kPageBytes))
      .add("stored_bytes", "stored", stored, human_bytes(stored))
      .add("file_bytes", "file", image.encoded().size(), human_bytes(image.encoded().size()))
      .add("globals", "globals", content.globals.size())
      .add("wasi_state_bytes", "WASI state", content.wasi_state.size(), human_bytes(content.wasi_state.size()))
      .add("job_state_bytes", "job state", content.job_state.size(), human_bytes(content.job_state.size()));
  return rows;
}

Result<int> show(const std::string& file, Invocation& invocation) {
  GW_TRY(auto image, load(file));
  const Rows rows = rows_of(image);
  Json json = rows.json();
  json["pages"] = Json::array();
  for (const wire::ImagePage& page : image.content().pages) json["pages"].push_back({{"index", page.index}, {"hash", page.hash.hex()}});
  invocation.console.print({"godwit.image.show/1", json, rows.render(invocation.console.out()), image.id().hex()});
  return 0;
}

// Indexes of the pages that differ. A missing page is all zero.
std::vector<std::uint32_t> changed_pages(const wire::ImageContent& a, const wire::ImageContent& b) {
  std::map<std::uint32_t, Hash256> pages;
  for (const wire::ImagePage& page : a.pages) pages.emplace(page.index, page.hash);
  std::set<std::uint32_t> changed;
  for (const wire::ImagePage& page : b.pages) {
    const auto found = pages.find(page.index);
    if (found == pages.end() || found->second != page.hash) changed.insert(page.index);
    if (found != pages.end()) pages.erase(found);
  }
  for (const auto& [index, hash] : pages) changed.insert(index);
  return {changed.begin(), changed.end()};
}

Result<int> diff(const std::string& first, const std::string& second, Invocation& invocation) {
  GW_TRY(auto a, load(first));
  GW_TRY(auto b, load(second));
  const auto pages = changed_pages(a.content(), b.content());
  const bool same_module = a.content().module_hash == b.content().module_hash;
  const bool same_globals = a.content().globals == b.content().globals;
  const bool same_wasi = a.content().wasi_state == b.content().wasi_state;
  const bool equal = same_module && same_globals && same_wasi && pages.empty() && a.content().memory_pages == b.content().memory_pages;
  const auto word = [](bool same) { return same ? "same" : "different"; };
  Rows rows;
  rows.add("equal", "state", equal, word(equal))
      .add("same_module", "module", same_module, word(same_module))
      .add("changed_pages", "pages", pages.size(), pages.empty() ? "same" : fmt::format("{} different", pages.size()))
      .add("changed_bytes", "  at most", pages.size() * wire::kPageBytes, human_bytes(pages.size() * wire::kPageBytes))
      .add("same_globals", "globals", same_globals, word(same_globals))
      .add("same_wasi_state", "WASI state", same_wasi, word(same_wasi));
  Json json = rows.json();
  json["pages"] = pages;
  invocation.console.print({"godwit.image.diff/1", json, rows.render(invocation.console.out()), word(equal)});
  return equal ? 0 : 1;
}

void add_show(CommandTree& tree, Command& parent) {
  Command& command = tree.add(parent, "show",
                              {.summary = "Check an image and show its contents",
                               .examples = {"godwit image show nbody.gwi", "godwit image show nbody.gwi -o json"}});
  auto file = std::make_shared<std::string>();
  command.add_argument("IMAGE", *file, "Image written by run or resume");
  command.on_selected([file](Invocation& invocation) { return show(*file, invocation); });
}

void add_diff(CommandTree& tree, Command& parent) {
  Command& command = tree.add(parent, "diff",
                              {.summary = "Compare the state of two images",
                               .details = "Exits with 0 if both images hold the same state, with 1 if not.",
                               .examples = {"godwit image diff before.gwi after.gwi", "godwit image diff a.gwi b.gwi -o quiet"}});
  auto files = std::make_shared<std::pair<std::string, std::string>>();
  command.add_argument("IMAGE", files->first, "First image");
  command.add_argument("OTHER", files->second, "Second image");
  command.on_selected([files](Invocation& invocation) { return diff(files->first, files->second, invocation); });
}

}  // namespace

void add_image_commands(CommandTree& tree) {
  Command& image = tree.add(tree.root(), "image",
                            {.summary = "Show and compare images of suspended programs",
                             .examples = {"godwit image show nbody.gwi", "godwit image diff before.gwi after.gwi"}});
  image.require_subcommand();
  add_show(tree, image);
  add_diff(tree, image);
  add_image_output_command(tree, image);
}

}  // namespace gw::cli
