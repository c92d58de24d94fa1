// SPDX-License-Identifier: Apache-2.0
#include "ingest/file/name_history.hpp"

#include <algorithm>
#include <optional>

namespace penstock {

NameHistory::File* NameHistory::find(std::uint64_t number) noexcept {
  auto const found = std::ranges::find(files_, number, &File::number);
  return found == files_.end() ? nullptr : &*found;
}

void NameHistory::erase(std::uint64_t number) {
  std::erase_if(files_, [&](File const& file) { return file.number == number; });
}

/// Returns the newest file of this name, because events refer to the one that has it now.
NameHistory::File* NameHistory::find_named(std::string_view name) noexcept {
  auto const found = std::find_if(files_.rbegin(), files_.rend(), [&](File const& file) { return file.name == name; });
  return found == files_.rend() ? nullptr : &*found;
}

NameHistory::File& NameHistory::add() {
  return files_.emplace_back(File{.number = next_++, .name = name_});
}

bool NameHistory::note(NameEvent const& event) {
  File* const had = find_named(event.name);
  if (event.kind != NameEvent::Kind::appeared) {
    if (had == nullptr) return event.name == name_;
    had->name.clear();
    had->move = event.kind == NameEvent::Kind::left ? event.move : 0;
    had->missing = false;
    ++had->changes;
    return true;
  }
  auto const moved = std::ranges::find_if(
      files_, [&](File const& file) { return event.move != 0 && file.move == event.move && file.name.empty(); });
  if (had != nullptr && (had->missing || (had->assumed && !had->opened)) && moved == files_.end()) {
    had->missing = had->assumed = false;
    ++had->changes;
    return true;
  }
  // A file that is renamed to a name takes it from the one that has it.
  std::optional<std::uint64_t> same = {};
  if (had != nullptr) {
    if ((had->missing || had->assumed) && !had->opened) same = had->number;
    had->name.clear();
    had->move = 0;
    ++had->changes;
  }
  if (moved != files_.end()) {
    moved->name = event.name;
    moved->move = 0;
    ++moved->changes;
    if (same) erase(*same);  // The file that was seen, or is to come, is the renamed one.
    return true;
  }
  if (event.name == name_) add();
  return had != nullptr || event.name == name_;
}

void NameHistory::assume() {
  if (File* const had = find_named(name_); had != nullptr) {
    had->name.clear();
    had->move = 0;
    ++had->changes;
  }
  add().assumed = true;
}

std::uint64_t NameHistory::begin_anew() {
  bool const missing = !files_.empty() && files_.back().missing;
  std::uint64_t const lost =
      static_cast<std::uint64_t>(std::erase_if(files_, [](File const& file) { return !file.opened && !file.missing; }));
  for (File& file : files_) {
    if (file.missing) continue;
    file.name.clear();
    file.move = 0;
    ++file.changes;
  }
  if (!missing) add();
  return lost;
}

std::uint64_t NameHistory::drop_lost() {
  return static_cast<std::uint64_t>(
      std::erase_if(files_, [](File const& file) { return !file.opened && file.name.empty(); }));
}

}  // namespace penstock
