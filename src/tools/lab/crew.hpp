// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "penstock/device/build_flavour.hpp"
#include "penstock/device/device.hpp"

namespace penstock::lab {
inline namespace PENSTOCK_FLAVOUR {

/// Host threads that all do the same at once, each for itself, and then stay for the next such thing: what a device
/// keeps for each thread, such as a default stream, is theirs from one to the next.
///
/// Threads: one, which makes it and asks it.
class Crew {
 public:
  /// Throws: std::system_error, if the threads cannot be had.
  Crew(Device& device, unsigned threads);
  Crew(Crew const&) = delete;
  Crew& operator=(Crew const&) = delete;
  ~Crew();

  /// Calls work(0), work(1) and so on, each on the thread of that number, attached to the device.
  ///
  /// Blocks: until all have returned.
  /// Throws: what one of them threw.
  void each(std::function<void(unsigned)> const& work);

 private:
  void serve(unsigned number);
  void join() noexcept;

  Device& device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void(unsigned)> const* work_ = nullptr;
  std::uint64_t round_ = 0;    ///< How often work was given out.
  std::size_t under_way_ = 0;  ///< Threads that have not done this round's.
  bool over_ = false;
  std::exception_ptr problem_;
  std::vector<std::thread> threads_;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::lab
