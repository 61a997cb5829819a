#pragma once
// The content of files as pages of an image: from 65,536 on, file after file by inode, each with all its pages.

#include <span>
#include <unordered_set>
#include <vector>

#include "isolate/files/file_tree.h"
#include "wire/image/image.h"

namespace gw::isolate {

// All pages that are not zero, hashed unless their hash is known from the last save; the views point into the files. Those whose hash is
// among `saved` are left to the image that has them.
std::vector<wire::ImagePage> hash_file_pages(FileTree& files, const std::unordered_set<Hash256>& saved);

// Gives the files of a tree, which have their sizes, the content it has in an image, whose pages of files these are; from the image itself
// or from a pack. Kind::corrupt if the image has another number of pages.
Status load_file_pages(const wire::Image& image, std::span<const wire::ImagePage> pages, std::span<const wire::BlobPack> packs,
                       FileTree& files);

}  // namespace gw::isolate
