// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/collective/shares.hpp"
#include "penstock/device/build_flavour.hpp"

namespace penstock {

/// What the lanes' arrays came to together.
template <class Element>
struct Merged {
  std::vector<Element> values;
  /// In words, for a report: "by NCCL 2.28.3 on 2 GPUs", "by memory of the host, of 2 devices", "on one device".
  std::string how;
  /// Devices that were lost, and why: what their lanes had is not in it. Empty if it is whole.
  std::vector<std::string> missing;
};

inline namespace PENSTOCK_FLAVOUR {

/// An array of numbers that each lane of a pipeline adds to, in a copy of its own on its device, and that is made one
/// at the end: a histogram, sums, minima.
///
/// Integers come out the same bit for bit, however lanes and devices shared the tiles. Floating-point numbers are
/// combined lane by lane and then device by device, in their order, or among GPUs in the order that NCCL chooses; which
/// tiles a lane had is chance in either case. What becomes of a NaN in a minimum or maximum is not defined.
///
/// It lives from before the run until after the merge, and shorter than its devices. Over several runs it goes on
/// counting, unless it is cleared.
///
/// Threads: `share` those of lanes; the rest one at a time. So are merges of several reductions that share GPUs: two
/// that NCCL has at once may each wait for the other for ever.
template <class Element>
class Reduction {
 public:
  /// For a pipeline on these devices.
  ///
  /// Shape:  `count` elements, integers or floating-point numbers of 4 or 8 bytes.
  /// Blocks: with several GPUs and NCCL about a second.
  /// Throws: Error: out_of_device_memory; bad_argument, if no array is that long; device_lost.
  explicit Reduction(DeviceGroup const& devices, std::size_t count, ReduceOperation operation = ReduceOperation::sum,
                     ReductionOptions const& options = {})
      : shares_(devices, count, element_type_of<Element>(), operation, options) {}

  /// A lane's own, for a stage that keeps it: elements that a kernel may change in the lane's stream, in
  /// `share.update(stream, body)`.
  ///
  /// Throws: Error: no device memory; bad_argument for a device that it was not made for.
  Share& share(StageContext const& context) { return shares_.share(context); }
  static DeviceSpan<Element> elements(Share const& share) noexcept {
    return {reinterpret_cast<Element*>(share.array().data()), share.array().size() / sizeof(Element)};
  }

  /// Stages that do nothing else: `body(DeviceTile const&, DeviceSpan<Element>, StreamRef)` enqueues what adds a tile
  /// to its lane's elements, and returns the bytes of output to bring back, or nothing for none. `prepare` loads its
  /// kernels before the lane's first tile, as blake3_prepare does.
  ///
  /// Threads: both are called on every lane at once.
  template <class Body>
  Stages on_device(Body body, std::function<void(StreamRef)> prepare = {}) {
    class Adding final : public Stage {
     public:
      Adding(Share& share, Body add, std::function<void(StreamRef)> load)
          : share_(share), add_(std::move(add)), load_(std::move(load)) {}
      void prepare(StreamRef stream) override {
        if (load_) load_(stream);
      }
      std::size_t run(DeviceTile const& tile, StreamRef stream) override {
        using Returned = std::invoke_result_t<Body&, DeviceTile const&, DeviceSpan<Element>, StreamRef>;
        if constexpr (std::is_void_v<Returned>) {
          share_.update(stream, [&] { add_(tile, elements(share_), stream); });
          return 0;
        } else {
          return share_.update(stream, [&] { return add_(tile, elements(share_), stream); });
        }
      }

     private:
      Share& share_;
      Body add_;
      std::function<void(StreamRef)> load_;
    };
    return {
        .make = [this, body = std::move(body), prepare = std::move(prepare)](
                    StageContext const& context) { return std::make_unique<Adding>(share(context), body, prepare); },
        .merge = {}};
  }

  /// Makes one of all that the lanes have, on streams of the highest priority; the lanes keep what they have. While the
  /// pipeline runs only with ReductionOptions::while_running: each lane's elements are then those behind one of its
  /// tiles.
  ///
  /// Threads: the calling thread is attached to one of the devices afterwards.
  /// Blocks: until done, or a device that it waits for is lost or abandoned.
  /// Throws: Error: of kind device_lost, if no device is left that had lanes, or a merge by NCCL, this or an earlier
  /// one, failed on its way; of kind device_refused, if a device refuses a call.
  Merged<Element> merge() {
    MergedBytes bytes = shares_.merge();
    Merged<Element> merged{.values = std::vector<Element>(bytes.bytes.size() / sizeof(Element)),
                           .how = std::move(bytes.how),
                           .missing = std::move(bytes.missing)};
    if (!merged.values.empty()) std::memcpy(merged.values.data(), bytes.bytes.data(), bytes.bytes.size());
    return merged;
  }
  /// Begins anew. Not while the pipeline runs.
  ///
  /// Blocks: until done.
  void clear() { shares_.clear(); }

 private:
  Shares shares_;
};

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
