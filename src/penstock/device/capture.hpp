// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace penstock {

/// What a device implements to have captures. Users hold a Capture.
class CaptureBackend {
 public:
  virtual ~CaptureBackend() = default;
  virtual std::size_t operations() const noexcept = 0;
};

/// What a stream was asked for while it captured, for streams of its device to do again and again, by one call each
/// time (StreamRef::launch). On a GPU a CUDA graph.
///
/// Must die before its Device, and not before each stream has passed it. Memory that its operations name must be valid
/// whenever it is launched.
///
/// Threads: any, but one launch at a time. What several streams do of it at once is in no order.
class Capture {
 public:
  explicit Capture(std::unique_ptr<CaptureBackend> backend) noexcept : owned_(std::move(backend)) {}

  /// How many copies, kernels and other steps there are in it; with 0 a launch does nothing.
  std::size_t operations() const noexcept { return owned_->operations(); }
  CaptureBackend& backend() const noexcept { return *owned_; }

 private:
  std::unique_ptr<CaptureBackend> owned_;
};

}  // namespace penstock
