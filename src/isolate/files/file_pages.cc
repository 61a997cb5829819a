#include "isolate/files/file_pages.h"

#include <cstring>

#include "isolate/memory/memory_history.h"

namespace gw::isolate {
namespace {

using wire::ImagePage;
using wire::Storage;

bool is_zero_page(const FilePage& page) { return page[0] == 0 && std::memcmp(page.data(), page.data() + 1, page.size() - 1) == 0; }

// In the order of their numbers.
std::vector<FileContent::Slot*> all_slots(FileTree& files) {
  std::vector<FileContent::Slot*> slots;
  slots.reserve(files.pages());
  files.each_content([&](FileContent& content) {
    for (FileContent::Slot& slot : content.slots()) slots.push_back(&slot);
  });
  return slots;
}

// A page of zeros and no page are the same to the guest, and must be in the image.
void hash_slots(std::span<FileContent::Slot* const> slots) {
  std::vector<ImagePage> pages;
  std::vector<FileContent::Slot*> owners;
  for (FileContent::Slot* slot : slots) {
    if (!slot->page || slot->hash) continue;
    if (is_zero_page(*slot->page)) {
      slot->page.reset();
      continue;
    }
    pages.push_back({.index = 0, .hash = {}, .storage = Storage::raw, .stored = *slot->page});
    owners.push_back(slot);
  }
  hash_all(pages);
  for (std::size_t i = 0; i < pages.size(); i++) owners[i]->hash = pages[i].hash;
}

}  // namespace

std::vector<ImagePage> hash_file_pages(FileTree& files, const std::unordered_set<Hash256>& saved) {
  auto slots = all_slots(files);
  hash_slots(slots);
  std::vector<ImagePage> pages;
  for (std::uint32_t i = 0; i < slots.size(); i++) {
    const FileContent::Slot& slot = *slots[i];
    if (!slot.page) continue;
    ImagePage page{.index = wire::kFirstFilePage + i, .hash = *slot.hash, .storage = Storage::elsewhere, .stored = {}};
    if (!saved.contains(page.hash)) page.storage = Storage::raw, page.stored = *slot.page;
    pages.push_back(page);
  }
  return pages;
}

Status load_file_pages(const wire::Image& image, std::span<const wire::Image> ancestors, FileTree& files) {
  if (image.content().file_pages != files.pages())
    return fail(Kind::corrupt, "the image has {} pages of files, its files have {}", image.content().file_pages, files.pages());
  auto slots = all_slots(files);
  auto pages = std::span(image.content().pages).subspan(pages_of_memory(image).size());
  GW_TRY(auto sources, find_sources(pages, ancestors));
  for (std::size_t i = 0; i < pages.size(); i++) {
    FileContent::Slot& slot = *slots[pages[i].index - wire::kFirstFilePage];
    slot.page = std::make_shared<FilePage>();
    slot.hash = pages[i].hash;
    GW_TRY_VOID(wire::load_page(*sources[i], *slot.page));
  }
  return ok();
}

}  // namespace gw::isolate
