// SPDX-License-Identifier: Apache-2.0
#include "penstock/file/read_queue.hpp"

#include "penstock/file/open_file.hpp"

#if PENSTOCK_WITH_LIBURING
#include <algorithm>
#include <cerrno>

#include <liburing.h>
#include <sys/uio.h>
#endif

namespace penstock {

#if PENSTOCK_WITH_LIBURING
namespace {

/// What the kernel registers as one buffer at most.
constexpr std::size_t most_registered = std::size_t{1} << 30;

class Uring final : public ReadQueue {
 public:
  /// Takes over a ring that was made.
  Uring(io_uring const& ring, std::span<std::byte> memory, std::vector<std::string>& remarks) : ring_(ring) {
    if (!memory.empty()) enlist(memory, remarks);
  }
  Uring(Uring const&) = delete;
  Uring& operator=(Uring const&) = delete;
  ~Uring() override { io_uring_queue_exit(&ring_); }

  bool usable() const noexcept override { return usable_; }

  void read(std::span<PieceRead> pieces) override {
    for (std::size_t k = 0; k < pieces.size(); ++k) put(pieces[k], k);
    std::size_t in_flight = 0, waiting = pieces.size();
    while (waiting + in_flight > 0) {
      int const sent = io_uring_submit_and_wait(&ring_, static_cast<unsigned>(waiting + in_flight));
      if (sent > 0) {
        in_flight += static_cast<std::size_t>(sent);
        waiting -= static_cast<std::size_t>(sent);
      }
      in_flight -= take(pieces);
      if (sent >= 0 || sent == -EINTR || sent == -EAGAIN || sent == -EBUSY) {
        if (sent >= 0 || sent == -EINTR || in_flight > 0) continue;
      }
      // It takes no more. What it has it must give back first, because it writes to the tile.
      usable_ = false;
      if (in_flight == 0) return;
    }
  }

 private:
  void enlist(std::span<std::byte> memory, std::vector<std::string>& remarks) {
    std::vector<iovec> parts;
    for (std::size_t at = 0; at < memory.size(); at += most_registered) {
      parts.push_back({memory.data() + at, std::min(most_registered, memory.size() - at)});
    }
    int const status = io_uring_register_buffers(&ring_, parts.data(), static_cast<unsigned>(parts.size()));
    if (status == 0) {
      registered_ = memory;
    } else {
      remarks.push_back("io_uring did not register the tiles, so each request pins what it reads to: " +
                        system_problem(-status));
    }
  }

  void put(PieceRead& piece, std::size_t number) {
    piece.result = -EAGAIN;
    io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
    auto const bytes = static_cast<unsigned>(piece.to.size());
    std::size_t const from = static_cast<std::size_t>(piece.to.data() - registered_.data());
    bool const inside = !registered_.empty() && piece.to.data() >= registered_.data() &&
                        from + piece.to.size() <= registered_.size() &&
                        from / most_registered == (from + piece.to.size() - 1) / most_registered;
    if (inside) {
      io_uring_prep_read_fixed(entry, piece.descriptor, piece.to.data(), bytes, piece.offset,
                               static_cast<int>(from / most_registered));
    } else {
      io_uring_prep_read(entry, piece.descriptor, piece.to.data(), bytes, piece.offset);
    }
    io_uring_sqe_set_data64(entry, number);
  }

  std::size_t take(std::span<PieceRead> pieces) {
    std::size_t taken = 0;
    io_uring_cqe* entry = nullptr;
    for (; io_uring_peek_cqe(&ring_, &entry) == 0; ++taken) {
      pieces[io_uring_cqe_get_data64(entry)].result = entry->res;
      io_uring_cqe_seen(&ring_, entry);
    }
    return taken;
  }

  io_uring ring_;
  std::span<std::byte> registered_;
  bool usable_ = true;
};

}  // namespace

std::unique_ptr<ReadQueue> open_uring(unsigned depth, std::span<std::byte> memory, std::vector<std::string>& remarks) {
  io_uring ring{};
  if (int const status = io_uring_queue_init(depth, &ring, 0); status != 0) {
    remarks.push_back("io_uring was refused: " + system_problem(-status));
    return nullptr;
  }
  return std::make_unique<Uring>(ring, memory, remarks);
}

#else

std::unique_ptr<ReadQueue> open_uring(unsigned /*depth*/, std::span<std::byte> /*memory*/,
                                      std::vector<std::string>& remarks) {
  remarks.emplace_back("this build of penstock has no io_uring in it; build it where liburing is");
  return nullptr;
}

#endif

}  // namespace penstock
