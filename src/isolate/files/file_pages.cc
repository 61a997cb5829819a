#include "isolate/files/file_pages.h"

#include <cstring>

#include "isolate/memory/memory_history.h"

namespace gw::isolate {
namespace {

using wire::ImagePage;
using wire::Storage;

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
    const ByteView bytes = wire::without_end_zeros(*slot->page);
    if (bytes.empty()) {
      slot->page.reset();
      continue;
    }
    pages.push_back({.index = 0, .hash = {}, .storage = Storage::raw, .stored = bytes});
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
    if (!saved.contains(page.hash)) page.storage = Storage::raw, page.stored = wire::without_end_zeros(*slot.page);
    pages.push_back(page);
  }
  return pages;
}

Status load_file_pages(const wire::Image& image, std::span<const ImagePage> pages, std::span<const wire::BlobPack> packs, FileTree& files) {
  if (image.content().file_pages != files.pages())
    return fail(Kind::corrupt, "the image has {} pages of files, its files have {}", image.content().file_pages, files.pages());
  auto slots = all_slots(files);
  for (ImagePage page : pages) {
    for (std::size_t i = 0; page.storage == Storage::elsewhere && i < packs.size(); ++i)
      if (const wire::StoredBlob* blob = packs[i].find(page.hash)) page.storage = blob->storage, page.stored = blob->stored;
    if (page.storage == Storage::elsewhere)
      return fail(Kind::not_found, "page {} of the image is in another image it builds on, which was not given", page.index);
    FileContent::Slot& slot = *slots[page.index - wire::kFirstFilePage];
    slot.page = std::make_shared<FilePage>();
    slot.hash = page.hash;
    GW_TRY_VOID(wire::load_page(page, *slot.page));
  }
  return ok();
}

}  // namespace gw::isolate
