// SPDX-License-Identifier: Apache-2.0
#include "observe/lost_tiles.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "penstock/error.hpp"

namespace penstock {
namespace {

constexpr std::uint64_t word_bytes = 8;
static_assert(sizeof(LostTile) % word_bytes == 0 && sizeof(LostTilesHeader) % word_bytes == 0);

}  // namespace

std::uint64_t LostTile::bytes() const noexcept {
  std::uint64_t all = 0;
  for (std::uint64_t const some : filled) all += some;
  return all;
}

void put_text(std::span<char> field, std::string_view text) noexcept {
  std::size_t const length = std::min(text.size(), field.size() - 1);
  std::copy_n(text.begin(), length, field.begin());
  field[length] = '\0';
}

LostTilesView::LostTilesView(int file) {
  struct stat about {};
  auto const refuse = [](std::string const& why) { throw Error(ErrorKind::system, "The lost tiles: " + why + "."); };
  if (fstat(file, &about) != 0) refuse(std::strerror(errno));
  auto const size = static_cast<std::size_t>(about.st_size);
  if (size < sizeof(LostTilesHeader)) refuse("their file is too short");
  void* const start = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (start == MAP_FAILED) refuse(std::strerror(errno));
  bytes_ = {static_cast<std::byte*>(start), size};
  std::size_t at = sizeof(LostTilesHeader);
  while (header().magic == LostTilesHeader::right_magic && size - at >= sizeof(LostTile)) {
    auto* const tile = reinterpret_cast<LostTile*>(bytes_.data() + at);
    std::uint64_t const content = (tile->bytes() + word_bytes - 1) / word_bytes * word_bytes;
    if (content > size - at - sizeof(LostTile)) break;
    tiles_.push_back(tile);
    at += sizeof(LostTile) + content;
  }
  if (header().magic == LostTilesHeader::right_magic && at == size) return;
  munmap(bytes_.data(), bytes_.size());
  refuse("their file is of another version, or damaged");
}

LostTilesView::~LostTilesView() {
  munmap(bytes_.data(), bytes_.size());
}

std::span<std::byte const> LostTilesView::input(LostTile const& tile, std::size_t which) noexcept {
  auto const* at = reinterpret_cast<std::byte const*>(&tile + 1);
  for (std::size_t before = 0; before < which; ++before) at += tile.filled[before];
  return {at, tile.filled[which]};
}

void LostTiles::keep(Tile const& tile, unsigned lane) noexcept {
  std::scoped_lock const lock(mutex_);
  if (file_.number < 0) {
    file_.number = memfd_create("penstock-lost-tiles", MFD_CLOEXEC);
    LostTilesHeader header;
    header.shape = shape_;
    if (file_.number >= 0 && !write(&header, sizeof header)) file_.shut();
  }
  std::uint64_t const begin = end_;
  LostTile kept;
  kept.sequence = tile.sequence;
  kept.tag = tile.tag;
  kept.lane = lane;
  kept.filled[0] = tile.filled;
  std::ranges::copy(tile.more_filled, kept.filled.begin() + 1);
  bool whole = file_.number >= 0 && write(&kept, sizeof kept);
  for (std::size_t which = 0; whole && which <= most_more_inputs; ++which) {
    auto const bytes = tile.filled_input(which);
    whole = write(bytes.data(), bytes.size());
  }
  constexpr std::uint64_t nothing = 0;
  if (whole && write(&nothing, (word_bytes - kept.bytes() % word_bytes) % word_bytes)) return;
  end_ = begin;
  if (file_.number >= 0 && ftruncate(file_.number, static_cast<off_t>(begin)) != 0) file_.shut();
  try {
    missing_.push_back(tile.sequence);
  } catch (std::bad_alloc const&) {
  }
}

bool LostTiles::write(void const* from, std::size_t bytes) noexcept {
  for (std::size_t done = 0; done < bytes;) {
    ssize_t const got =
        pwrite(file_.number, static_cast<std::byte const*>(from) + done, bytes - done, static_cast<off_t>(end_ + done));
    if (got < 0 && errno != EINTR) return false;
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  end_ += bytes;
  return true;
}

}  // namespace penstock
