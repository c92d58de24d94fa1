// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>

#include <sys/stat.h>

#include "penstock/file/byte_stream.hpp"
#include "penstock/files.hpp"

namespace penstock {

class OpenFolder;

/// How to read a file past the page cache.
struct DirectAccess {
  int descriptor = -1;
  std::size_t alignment = 0;  ///< Of memory, offset and size, in bytes.
};

/// A file being read: a regular one by pieces from many threads, anything else from its beginning to its end by one.
///
/// Throws: FileProblem, without the file's name.
class OpenFile final : public ByteStream {
 public:
  /// As the input says where it is.
  static std::shared_ptr<OpenFile> of(InputFile const& input);
  /// `-` is standard input. Does not block on a pipe without a writer.
  explicit OpenFile(std::string const& path);
  /// A regular file of this name in a directory, and no link to one.
  OpenFile(OpenFolder const& in, std::string const& name);
  /// One that is open already, and stays the caller's to close.
  explicit OpenFile(int descriptor);
  OpenFile(OpenFile const&) = delete;
  OpenFile& operator=(OpenFile const&) = delete;
  ~OpenFile() override;

  /// True if `size` is known and `read_at` works. A regular file that says it is empty is read as a stream, because
  /// those in /proc say so whatever they hold.
  bool pieces() const noexcept { return pieces_; }
  /// True of a regular file, also of one that says it is empty.
  bool regular() const noexcept { return S_ISREG(before_.st_mode); }
  std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(before_.st_size); }

  /// Fills `to` from `offset`, and says how many bytes: fewer only if the file holds less than its size says, as those
  /// in /sys do.
  ///
  /// Threads: any.
  /// Throws:  also if the file ends early because it shrank or changed.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> to) const;
  /// As read_at, of a place far behind what was read before: what is not in the page cache is asked for with much that
  /// is behind it, so that the next calls need not wait.
  std::size_t look_at(std::uint64_t offset, std::span<std::byte> to) const;
  /// Reads what there is, at most all of `to`, and says how many bytes: 0 only at the end of the stream, or once `stop`
  /// is requested.
  ///
  /// Blocks: until there is input or, a tenth of a second later at most, `stop` is requested.
  std::size_t read_some(std::span<std::byte> to, std::stop_token const& stop) const;
  /// As read_some, until it is enough.
  Gathered gather(std::span<std::byte> to, std::optional<std::chrono::microseconds> linger,
                  std::stop_token const& stop) override;
  /// Throws: if this is a regular file, not standard input, and its size, its time of writing, its time of change or
  /// its number of links is another than when it was opened. To rename it, to change its mode or owner, to link it and
  /// to remove it count as changes therefore. What is written through a mapping that was written to before, or in the
  /// same tick of the file system's clock in which the file was opened, need not show in any of these.
  void expect_unchanged() const;
  /// True if it is larger than when it was opened.
  bool grew() const;
  /// Remembers with which bytes it begins and ends, for expect_only_grown.
  void remember_ends();
  /// As expect_unchanged, but it may have grown, if it still has what it held then at its beginning and at its end.
  ///
  /// Throws: also if it holds more than its size says.
  void expect_only_grown() const;

  /// To be read from anywhere; lives as long as this.
  int descriptor() const noexcept { return descriptor_; }
  /// Nothing if the file cannot be read past the page cache. Opened at the first call.
  ///
  /// Threads: any.
  std::optional<DirectAccess> direct();
  /// Why it cannot, after such a call.
  std::string direct_refusal() const;
  /// It turned out that it cannot, with this error's number.
  void refuse_direct(int number) noexcept { direct_error_.store(number, std::memory_order_relaxed); }

  /// Pieces that are not read yet; the thread that takes it to 0 looks whether the file changed meanwhile.
  std::atomic<std::uint64_t> pieces_left{0};
  /// The last record had no delimiter when it was read, and was taken for whole.
  std::atomic<bool> ends_without_delimiter{false};

 private:
  /// A few bytes of the file, from an offset on.
  struct Excerpt {
    std::uint64_t offset = 0;
    std::array<std::byte, 64> bytes{};
    std::size_t size = 0;
    bool operator==(Excerpt const&) const = default;
  };
  Excerpt excerpt_at(std::uint64_t offset) const;
  void look();
  void open_direct() noexcept;

  int descriptor_;
  bool owned_ = true;
  bool pieces_ = false;
  struct stat before_ {};
  std::array<Excerpt, 2> ends_{};
  std::once_flag direct_once_;
  DirectAccess direct_;
  std::atomic<int> direct_error_{0};
};

}  // namespace penstock
