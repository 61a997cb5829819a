#include <fmt/core.h>

#include <memory>

#include "cli/commands.h"
#include "cli/image_file.h"
#include "cli/report.h"
#include "wire/image.h"

namespace gw::cli {
namespace {

Result<wire::Image> load(const std::string& file) {
  GW_TRY(auto image, read_image(file));
  GW_TRY_VOID(image.verify_pages());
  return image;
}

void show(const wire::Image& image, Format format) {
  const wire::ImageContent& content = image.content();
  std::uint64_t stored = 0;
  for (const wire::ImagePage& page : content.pages) stored += page.stored.size();
  const std::string phase = content.phase == wire::Phase::fresh ? "fresh" : "suspended";
  std::vector<Row> rows{
      {"id", "image", image.id().hex(), ""},
      {"module", "module", content.module_hash.hex(), ""},
      {"module_bytes", "module included", content.module_wasm.size(),
       content.module_wasm.empty() ? "no" : human_bytes(content.module_wasm.size())},
      {"phase", "phase", phase, ""},
      {"parent", "changes to", content.parent ? nlohmann::ordered_json(content.parent->hex()) : nlohmann::ordered_json(),
       content.parent ? "" : "-"},
      {"memory_pages", "memory", content.memory_pages, human_bytes(std::uint64_t{content.memory_pages} * wire::kPageBytes)},
      {"nonzero_pages", "pages in use", content.pages.size(),
       fmt::format("{} of {}", content.pages.size(), content.memory_pages + content.file_pages)},
      {"file_pages", "files", content.file_pages, human_bytes(std::uint64_t{content.file_pages} * wire::kPageBytes)},
      {"stored_bytes", "stored", stored, human_bytes(stored)},
      {"file_bytes", "file", image.encoded().size(), human_bytes(image.encoded().size())},
      {"globals", "globals", content.globals.size(), ""},
      {"wasi_state_bytes", "WASI state", content.wasi_state.size(), human_bytes(content.wasi_state.size())},
      {"job_state_bytes", "job state", content.job_state.size(), human_bytes(content.job_state.size())},
  };
  if (format == Format::json) {
    auto pages = nlohmann::ordered_json::array();
    for (const wire::ImagePage& page : content.pages) pages.push_back({{"index", page.index}, {"hash", page.hash.hex()}});
    rows.push_back({"pages", "", std::move(pages), ""});
  }
  print_rows(rows, format);
}

}  // namespace

void add_image_command(CLI::App& app, Outcome& outcome) {
  CLI::App* command = app.add_subcommand("image", "Look at images of suspended programs");
  command->require_subcommand(1);
  CLI::App* show_command = command->add_subcommand("show", "Check an image and print what is in it");
  auto file = std::make_shared<std::string>();
  auto format = std::make_shared<Format>(Format::text);
  show_command->add_option("IMAGE", *file, "Image written by run or resume")->required();
  add_format_option(*show_command, *format);
  show_command->footer("Examples:\n  godwit image show nbody.gwi\n  godwit image show nbody.gwi -o json");
  show_command->callback([file, format, &outcome] {
    const auto image = load(*file);
    if (!image) {
      outcome.exit_code = report_error(image.error());
      return;
    }
    show(*image, *format);
  });
}

}  // namespace gw::cli
