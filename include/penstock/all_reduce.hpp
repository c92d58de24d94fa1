// SPDX-License-Identifier: Apache-2.0
// Arrays on several devices, made one while the devices compute.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/device.hpp"
#include "penstock/flavour.hpp"
#include "penstock/kernels.hpp"

namespace penstock {

struct AllReduceOptions {
  /// Maximum number of blocks that it occupies on each device. With NCCL these are channels, and version 2.17 or later
  /// is needed. 0: NCCL chooses; 32 on a modelled GPU.
  unsigned blocks = 0;
  /// True: its kernels start before those of other streams that wait for room; false: after them.
  bool urgent = true;
  /// True: GPUs exchange data by NCCL, if it can be loaded; otherwise, or if false, through host memory.
  bool nccl = true;
  std::string nccl_library = {};  ///< Name or path of the NCCL library. Empty: libnccl.so.2.
  /// Factor by which the bytes of an array count on the link of a modelled GPU. Small arrays then show what large ones
  /// cost.
  double stands_for = 1;
};

inline namespace PENSTOCK_FLAVOUR {

class AllReduceMethod;

/// Reduces arrays of bytes over several devices. Users see it as AllReduce.
///
/// Threads: one at a time.
class AllReducer {
 public:
  struct Part {
    std::span<std::byte> array;
    StreamRef behind;
  };

  /// Takes the arguments of AllReduce's constructor, with the element type as a value.
  AllReducer(DeviceGroup const& devices, ElementType type, ReduceOperation operation, AllReduceOptions const& options);
  AllReducer(AllReducer const&) = delete;
  AllReducer& operator=(AllReducer const&) = delete;
  ~AllReducer();

  void start(std::vector<Part> const& parts);
  void wait();
  std::string const& how() const noexcept { return how_; }

 private:
  std::size_t const devices_;
  std::string how_;
  std::unique_ptr<AllReduceMethod> method_;
};

/// Combines arrays on several devices while other streams compute: each array becomes the sum, minimum or maximum of
/// all, element by element. It has its own streams. Data goes from GPU to GPU by NCCL, if that can be loaded at run
/// time, else through host memory.
///
/// Kernels of other streams that fill the devices delay it, whatever its priority: leave multiprocessors free
/// (Tuning::spare).
///
/// Integers are bit-identical; floating-point numbers are combined in the order of the devices, or among GPUs in the
/// order that NCCL chooses. The arrays of all devices are equal in either case.
///
/// Threads: one at a time, which is attached to one of the devices afterwards, if they are GPUs. Also use objects that
///          share GPUs one at a time, including a Reduction: two collectives in NCCL may wait for each other for ever.
template <class Element>
class AllReduce {
 public:
  /// The array of one device.
  struct Part {
    DeviceSpan<Element> array;
    StreamRef behind;  ///< The array is ready once this stream has passed the work that it was given so far.
  };

  /// The object must die before its devices. It allocates everything at construction, except an event for each device
  /// when more all-reduces are in progress than ever before.
  ///
  /// Shape:  elements are integers or floating-point numbers of 4 or 8 bytes.
  /// Blocks: with several GPUs and NCCL about a second.
  /// Throws: Error: out_of_device_memory; device_lost; system, if there are no threads left.
  explicit AllReduce(DeviceGroup const& devices, ReduceOperation operation = ReduceOperation::sum,
                     AllReduceOptions const& options = {})
      : reducer_(devices, element_type_of<Element>(), operation, options) {}

  /// Starts an all-reduce behind those that were started before. It uses the arrays until `wait` has returned or
  /// thrown.
  ///
  /// Shape:  a part for each device, in their order; arrays of equal length, of any length.
  /// Blocks: never.
  /// Throws: Error: bad_argument; device_refused or device_lost, as `wait`.
  void start(std::span<Part const> parts) {
    std::vector<AllReducer::Part> all;
    for (Part const& part : parts) {
      DeviceSpan<std::byte> const bytes = part.array.template as<std::byte>();
      all.push_back({{bytes.address(), bytes.size()}, part.behind});
    }
    reducer_.start(all);
  }
  void start(std::initializer_list<Part> parts) { start(std::span<Part const>(parts.begin(), parts.size())); }

  /// Waits for all all-reduces that were started.
  ///
  /// Blocks: until they are done, or a device is lost or abandoned.
  /// Throws: Error of kind device_lost, or of kind device_refused, if a device refuses a call. Arrays in progress are
  ///         then undefined, and nothing can be started any more. After a loss other GPUs may wait in NCCL for ever:
  ///         abandon them before their arrays are freed.
  void wait() { reducer_.wait(); }

  /// Describes the method for a report: "by NCCL 2.28.3 on 2 GPUs", "by memory of the host, of 2 devices", "on one
  /// device".
  std::string const& how() const noexcept { return reducer_.how(); }

 private:
  AllReducer reducer_;
};

}  // namespace PENSTOCK_FLAVOUR

}  // namespace penstock
