// SPDX-License-Identifier: Apache-2.0
// Finds the images in a folder.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/ingest/files.hpp>

/// The JPEG files, by the ends of their names, in a folder and its subfolders, and similar files that were passed over.
class ImageFolder {
 public:
  /// Throws: Error of kind bad_argument, if it has none, or cannot be read itself.
  explicit ImageFolder(std::string const& folder) {
    namespace fs = std::filesystem;
    std::error_code refused;
    static_cast<void>(fs::directory_iterator(folder, refused));
    if (refused) throw penstock::Error(penstock::ErrorKind::bad_argument, folder + ": " + refused.message() + ".");
    add(folder);
    if (files_.empty() && remarks_.empty()) {
      throw penstock::Error(penstock::ErrorKind::bad_argument,
                            folder + " has no .jpg, .jpeg, .jpe or .jfif file" +
                                (links_ == 0 ? ": name another folder."
                                             : " (passed over: " + links_text() +
                                                   "): name another folder, or one that a link leads to."));
    }
    std::ranges::sort(files_);
    std::ranges::sort(remarks_);
    if (links_ != 0) remarks_.push_back("Passed over " + links_text() + ": name one to read what it leads to.");
  }
  /// Files in the order of their names.
  std::vector<std::string> const& files() const noexcept { return files_; }
  /// A sentence for each file that was passed over, and one for all links to folders.
  std::vector<std::string> const& remarks() const noexcept { return remarks_; }
  std::vector<penstock::LeftOut> const& left_out() const noexcept { return left_out_; }

 private:
  using Entry = std::filesystem::directory_entry;

  void add(std::filesystem::path const& folder) {
    std::error_code refused;
    std::filesystem::directory_iterator entries(folder, refused);
    for (; !refused && entries != std::filesystem::directory_iterator(); entries.increment(refused))
      add_entry(*entries);
    if (refused) pass_over("folder", folder, "that cannot be read", refused.message());
  }
  void add_entry(Entry const& entry) {
    std::error_code none;
    auto const status = entry.status(none);
    if (status.type() == std::filesystem::file_type::directory && entry.is_symlink(none)) {
      ++links_;
    } else if (status.type() == std::filesystem::file_type::directory) {
      add(entry.path());
    } else if (!is_image(entry.path())) {
      return;
    } else if (status.type() == std::filesystem::file_type::regular) {
      files_.push_back(entry.path());
    } else if (status.type() == std::filesystem::file_type::not_found) {
      pass_over("file", entry.path(), "behind a link that leads nowhere", "a link that leads nowhere");
    } else if (status.type() == std::filesystem::file_type::fifo) {
      pass_over("file", entry.path(), "that is a pipe", "a pipe");
    } else {
      pass_over("file", entry.path(), "that is no regular file", "no regular file");
    }
  }
  std::string links_text() const {
    return links_ == 1 ? "1 symbolic link to a folder" : std::to_string(links_) + " symbolic links to folders";
  }
  void pass_over(char const* unit, std::filesystem::path const& path, char const* reason, std::string const& why) {
    remarks_.push_back(penstock::name_in_line(path.string()) + " is passed over: " + why + ".");
    penstock::LeftOut const one{.unit = unit, .reason = reason, .count = 1};
    penstock::add_left_out(left_out_, std::span(&one, 1));
  }
  static bool is_image(std::filesystem::path const& path) {
    static constexpr std::array<std::string_view, 4> endings{".jpg", ".jpeg", ".jpe", ".jfif"};
    std::string ending = path.extension();
    std::ranges::transform(ending, ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return std::ranges::find(endings, ending) != endings.end();
  }

  std::uint64_t links_ = 0;  ///< Links below the folder that lead to folders.
  std::vector<std::string> files_, remarks_;
  std::vector<penstock::LeftOut> left_out_;
};
