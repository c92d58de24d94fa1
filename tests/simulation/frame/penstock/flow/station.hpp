// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "penstock/flow/tile_record.hpp"

namespace penstock {

/// What the stations of a simulated graph share, in the place of oneTBB's graph.
struct Frame {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t serving = 0;  ///< Threads in a station's work.
  bool over = false;
};

/// As src/penstock/flow/station.hpp has it.
struct RecordGroup {
  TileRecord* newest = nullptr;
  TileRecord* oldest = nullptr;

  void add(TileRecord& record) noexcept {
    record.next = newest;
    if (newest == nullptr) oldest = &record;
    newest = &record;
  }
};

/// What an edge leads to.
class EdgeEnd {
 public:
  virtual void push(TileRecord& record) noexcept = 0;

 protected:
  ~EdgeEnd() = default;
};

/// What a consumer does with a record that waited for it in a station.
class StationWork {
 public:
  virtual void take(TileRecord& record, bool follows) noexcept = 0;

 protected:
  ~StationWork() = default;
};

/// Stands in the place of src/penstock/flow/station.hpp: records wait in it until a consumer does its work with them.
///
/// Threads: any may push; the consumers serve, with the frame's mutex held but in the work.
class Station final : public EdgeEnd {
 public:
  static constexpr std::size_t unlimited = 0;

  Station(Frame& frame, std::size_t at_once, StationWork& work) : frame_(frame), at_once_(at_once), work_(work) {}
  Station(Station const&) = delete;
  Station& operator=(Station const&) = delete;

  void push(TileRecord& record) noexcept override;
  void lead_to(EdgeEnd& next) noexcept { next_ = &next; }
  void pass_on(TileRecord& record) noexcept { next_->push(record); }
  /// True if a record waits, and fewer than `at_once` are at work.
  bool ready() const noexcept { return oldest_ != nullptr && (at_once_ == unlimited || serving_ < at_once_); }
  /// Does the work of the record that waited for longest.
  void serve(std::unique_lock<std::mutex>& lock) noexcept;

 private:
  Frame& frame_;
  std::size_t const at_once_;
  StationWork& work_;
  TileRecord* oldest_ = nullptr;
  TileRecord* newest_ = nullptr;
  std::size_t serving_ = 0;
  EdgeEnd* next_ = nullptr;
};

/// Likewise: what comes in is handed to a lane at once.
class LanesNode final : public EdgeEnd {
 public:
  explicit LanesNode(StationWork& work) : work_(work) {}
  LanesNode(LanesNode const&) = delete;
  LanesNode& operator=(LanesNode const&) = delete;

  void push(TileRecord& record) noexcept override { work_.take(record, false); }
  void lead_to(EdgeEnd& next) noexcept { next_ = &next; }
  void leave(std::size_t way_out, RecordGroup const& records) noexcept;

 private:
  StationWork& work_;
  EdgeEnd* next_ = nullptr;
};

}  // namespace penstock
