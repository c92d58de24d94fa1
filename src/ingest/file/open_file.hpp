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

#include "ingest/file/byte_stream.hpp"
#include "penstock/ingest/files.hpp"

namespace penstock {

class OpenFolder;

/// Parameters of reading a file past the page cache.
struct DirectAccess {
  int descriptor = -1;
  std::size_t alignment = 0;  ///< Alignment of memory, offset and size, in bytes.
};

/// A file being read: a regular one by pieces from many threads, any other from its beginning to its end by one.
///
/// Throws: FileProblem, without the file's name.
class OpenFile final : public ByteStream {
 public:
  /// Opens the file that the input names.
  static std::shared_ptr<OpenFile> of(InputFile const& input);
  /// `-` is standard input. Does not block on a pipe without a writer.
  explicit OpenFile(std::string const& path);
  /// Opens a regular file of this name in a directory, and no link to one.
  OpenFile(OpenFolder const& in, std::string const& name);
  /// Uses a descriptor that is open already; the caller closes it.
  explicit OpenFile(int descriptor);
  OpenFile(OpenFile const&) = delete;
  OpenFile& operator=(OpenFile const&) = delete;
  ~OpenFile() override;

  /// True if `size` is known and `read_at` works. A regular file of size 0 is read as a stream, because those in /proc
  /// have size 0 whatever they hold.
  bool pieces() const noexcept { return pieces_; }
  /// True for a regular file, including one of size 0.
  bool regular() const noexcept { return S_ISREG(before_.st_mode); }
  std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(before_.st_size); }

  /// Fills `to` from `offset`, and returns the number of bytes: fewer only if the file has fewer than its size says, as
  /// those in /sys do.
  ///
  /// Threads: any.
  /// Throws:  also if the file ends early because it shrank or changed.
  std::size_t read_at(std::uint64_t offset, std::span<std::byte> to) const;
  /// Reads like read_at at a place far behind the last reads: if the data is not in the page cache, it requests much
  /// behind it as well, so that the next calls need not wait.
  std::size_t look_at(std::uint64_t offset, std::span<std::byte> to) const;
  /// Reads the available data, at most all of `to`, and returns the number of bytes: 0 only at the end of the stream,
  /// or once `stop` is requested.
  ///
  /// Blocks: until there is input or, a tenth of a second later at most, `stop` is requested.
  std::size_t read_some(std::span<std::byte> to, std::stop_token const& stop) const;
  /// Calls read_some until the data suffices.
  Gathered gather(std::span<std::byte> to, std::optional<std::chrono::microseconds> linger,
                  std::stop_token const& stop) override;
  /// Throws: if this is a regular file, not standard input, and its size, write time, change time or number of links
  ///         differs from that at its opening. Renaming, linking or removing it, and changing its mode or owner,
  ///         therefore count as changes. Writes through a mapping that was written to before, or in the same tick of
  ///         the file system's clock as the opening, may remain unnoticed.
  void expect_unchanged() const;
  /// True if it is larger than at its opening.
  bool grew() const;
  /// Stores its first and last bytes for expect_only_grown.
  void remember_ends();
  /// Does the same as expect_unchanged, but the file may have grown, if its old beginning and end are unchanged.
  ///
  /// Throws: also if it holds more than its size says.
  void expect_only_grown() const;

  /// Descriptor for reads at any offset; valid as long as this object.
  int descriptor() const noexcept { return descriptor_; }
  /// Opens it for direct access at the first call; nothing if the file cannot be read past the page cache.
  ///
  /// Threads: any.
  std::optional<DirectAccess> direct();
  /// The reason why it cannot, after such a call.
  std::string direct_refusal() const;
  /// Notes that direct access failed, with this error's number.
  void refuse_direct(int number) noexcept { direct_error_.store(number, std::memory_order_relaxed); }

  /// Number of pieces that are not read yet; the thread that takes it to 0 checks whether the file changed meanwhile.
  std::atomic<std::uint64_t> pieces_left{0};
  /// The last record had no delimiter when it was read, and was taken as whole.
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
