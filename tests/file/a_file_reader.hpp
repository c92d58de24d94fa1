// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/folder_of_files.hpp"

#include "penstock/file/file_reader.hpp"
#include "penstock/file/open_file.hpp"

namespace penstock {

/// A queue that reads plainly, and then does to each piece what a test wants.
class MadeUpQueue final : public ReadQueue {
 public:
  using Spoil = std::function<void(PieceRead&)>;
  MadeUpQueue(Spoil spoil, bool const& broken) : spoil_(std::move(spoil)), broken_(broken) {}
  void read(std::span<PieceRead> pieces) override {
    for (PieceRead& piece : pieces) {
      ssize_t const got = pread(piece.descriptor, piece.to.data(), piece.to.size(), static_cast<off_t>(piece.offset));
      piece.result = got < 0 ? -errno : got;
      spoil_(piece);
    }
  }
  bool usable() const noexcept override { return !broken_; }

 private:
  Spoil spoil_;
  bool const& broken_;
};

constexpr std::size_t page = 4096;

/// Readers of files that are longer than their pieces. It must leave with no descriptor more than there were.
struct AFileReader : support::FolderOfFiles {
  static constexpr std::size_t room_bytes = std::size_t{1} << 20;
  std::unique_ptr<std::byte, decltype(&std::free)> room{static_cast<std::byte*>(std::aligned_alloc(page, room_bytes)),
                                                        &std::free};
  std::size_t descriptors = 0;
  bool broken = false;
  bool refused = false;  ///< Whether the kernel refused io_uring. It may now and grant it at another time.
  OpenReadQueue open_queue = [this](unsigned depth, std::span<std::byte> memory, std::vector<std::string>& remarks) {
    auto queue = open_uring(depth, memory, remarks);
    refused = queue == nullptr;
    return queue;
  };
  FileReadingOptions options{.reading = FileReading::plain, .direct_from = 1, .depth = 4, .piece_bytes = page};

  void SetUp() override {
    FolderOfFiles::SetUp();
    descriptors = support::open_descriptors();
  }
  void TearDown() override {
    EXPECT_EQ(support::open_descriptors(), descriptors) << "something stayed open";
    FolderOfFiles::TearDown();
  }
  FileReader reader() { return {options, {room.get(), room_bytes}, open_queue}; }
  /// What a read came to: its bytes, or "wrong at" the first that is another, or why it failed.
  std::string read(FileReader& by, OpenFile& file, std::uint64_t offset, std::size_t bytes) const {
    std::fill_n(room.get(), room_bytes, std::byte{0xff});
    std::size_t got = 0;
    try {
      got = by.read(file, offset, {room.get(), bytes});
    } catch (FileProblem const& problem) {
      return problem.what();
    }
    for (std::size_t k = 0; k < room_bytes; ++k) {
      if (room.get()[k] != (k < got ? support::byte_at(offset + k) : std::byte{0xff})) {
        return "wrong at " + std::to_string(k);
      }
    }
    return std::to_string(got);
  }
  std::string read(FileReader& by, std::string const& path, std::uint64_t offset, std::size_t bytes) const {
    OpenFile file(path);
    return read(by, file, offset, bytes);
  }
  /// From now on queues read plainly and then do this to each piece.
  void spoil(MadeUpQueue::Spoil how) {
    open_queue = [this, how = std::move(how)](unsigned, std::span<std::byte>, std::vector<std::string>&) {
      return std::make_unique<MadeUpQueue>(how, broken);
    };
  }
  /// And there is none, for this reason.
  void refuse(std::string const& reason) {
    open_queue = [reason](unsigned, std::span<std::byte>, std::vector<std::string>& remarks) {
      remarks.push_back(reason);
      return nullptr;
    };
  }
};

}  // namespace penstock
