// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "engine/flow/tile_record.hpp"

namespace penstock {

/// State that the stations of a simulated graph share, in the place of oneTBB's graph.
struct Frame {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t serving = 0;  ///< Threads in a station's work.
  bool over = false;
};

/// A place where edges begin and end.
class GraphPlace {
 public:
  virtual void push(TileRecord& record) noexcept = 0;
  void lead_to(GraphPlace& next) noexcept { next_ = &next; }

 protected:
  ~GraphPlace() = default;
  GraphPlace* next_ = nullptr;
};

/// Stands in the place of src/engine/flow/station.hpp: records wait in it until a consumer does its work with them.
///
/// Threads: any may push; the consumers serve, with the frame's mutex held but in the work.
class Station final : public GraphPlace {
 public:
  static constexpr std::size_t unlimited = 0;

  Station(Frame& frame, std::size_t at_once, StationWork& work) : frame_(frame), at_once_(at_once), work_(work) {}
  Station(Station const&) = delete;
  Station& operator=(Station const&) = delete;

  void push(TileRecord& record) noexcept override;
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
};

/// Stands in the place of the lanes' node: what comes in is handed to a lane at once.
class LanesNode final : public GraphPlace {
 public:
  /// A way out to the next station.
  class WayOut {
   public:
    explicit WayOut(LanesNode& of) : of_(of) {}
    void try_put(RecordGroup const& records) noexcept { of_.leave(records); }

   private:
    LanesNode& of_;
  };

  explicit LanesNode(StationWork& work) : work_(work) {}
  LanesNode(LanesNode const&) = delete;
  LanesNode& operator=(LanesNode const&) = delete;

  void push(TileRecord& record) noexcept override { work_.take(record, false); }
  /// All lanes have the same.
  WayOut& way_out(std::size_t /*number*/) noexcept { return way_out_; }

 private:
  void leave(RecordGroup const& records) noexcept;

  StationWork& work_;
  WayOut way_out_{*this};
};

}  // namespace penstock
