// SPDX-License-Identifier: Apache-2.0
// What a run did, what bounded it, and a recording as a trace for Perfetto.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/left_out.hpp"
#include "penstock/snapshot.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// What a lane did.
struct LaneSummary {
  std::uint64_t tiles = 0;
  std::uint64_t batches = 0;  ///< In which tiles were put on the device.
  std::uint64_t copies = 0;   ///< That the device was asked for, both ways: neighbours in the pool are one.
  std::uint64_t mapped = 0;   ///< Tiles that their stage worked on in the host's memory.
  std::uint64_t graphs = 0;   ///< Tiles for which the stage was launched as a captured graph.
  bool may_map = false;       ///< Its stage promises that it may be given the host's memory.
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::uint64_t tickets = 0;            ///< That its signal brought.
  std::uint64_t naps = 0;               ///< How often it slept because its device had enough to do.
  FoundTiles found = {};                ///< How it learned that its device had passed the tiles.
  std::chrono::nanoseconds served{0};   ///< From the first tile that it took to its end.
  std::chrono::nanoseconds idle{0};     ///< Of these, with nothing to do but to watch its device or to sleep.
  std::uint64_t failed = 0;             ///< Tiles that it got and that failed, for any reason.
  std::shared_ptr<Failure const> loss;  ///< Why it gave its device up; null if it did not.
  /// Why its stage could not be captured, though it promises so: it was run for each tile from then on. Null if it
  /// could be captured, or was not to be.
  std::shared_ptr<Failure const> not_captured;
};

/// What kept a run from being faster.
enum class Bound : std::uint8_t {
  upload,              ///< Copies to the device.
  download,            ///< Copies from it.
  kernel,              ///< What the device computes.
  fill,                ///< What producers do in the source.
  sink,                ///< What consumers do with results.
  submission,          ///< What lanes do to give the device its work.
  completion,          ///< How lanes learn that tiles are done, and what they then do with them.
  too_few_tiles,       ///< All tiles were on their way, and no part had enough of them to be busy.
  serialising_stream,  ///< Work of the device takes turns, though it could go on at once.
  source_waits,        ///< The source had nothing, or the application pushed no more.
  cpus,                ///< The CPUs of the host, which had nothing left for any part.
  nothing_measured,
};

/// "upload", "too few tiles" and so on, as in docs/results.md.
std::string_view bound_name(Bound bound) noexcept;

/// A change that should make a run faster.
struct Advice {
  /// Options and values, or what to change in the work. The report of a pipeline names members of PipelineOptions, as
  /// "tuning.slots = 8"; the commands name their options, as "--slots 8".
  std::string change;
  double gain = 1;  ///< How many times the throughput is expected.
  std::string why;  ///< A sentence.
};

/// Why more streams would change nothing.
enum class NoStreams : std::uint8_t {
  kernels_fill_device,  ///< Kernels reach what they reach alone in as many streams as it takes.
  link_full,            ///< Copies one way leave the link no room for more.
  host,                 ///< The device waits for the host: its source, its sink, its lanes.
  work_too_small,       ///< What is done once for each tile takes longer than what its bytes take.
  barrier,              ///< Something makes work wait that is in streams of its own.
};

/// "link full", "work too small" and so on, as in docs/results.md.
std::string_view no_streams_name(NoStreams reason) noexcept;

struct WhyNoStreams {
  NoStreams reason = NoStreams::host;
  std::string sentence;  ///< "Streams will not help here, because ...".
};

/// What a tile takes of a device, and what it gains that the device does several things at once.
///
/// H, D and K are the moments at which it uploaded, downloaded and computed, as in Overlap.
/// Units: seconds; the mean of all tiles that were looked at. Empty, if there were none in that step.
struct DeviceTimes {
  std::optional<double> upload = {};
  std::optional<double> kernel = {};
  std::optional<double> download = {};
  std::optional<double> overlap = {};  ///< As in Overlap.
  /// (|H| + |D| + |K|) / max(|H|, |D|, |K|): how many times as fast as one kind after the other it would be if the
  /// shorter ones hid behind the longest. Empty if not every tile was looked at.
  std::optional<double> possible_speedup = {};
  /// (|H| + |D| + |K|) / |H u D u K|: how many times as fast it was, while it did anything. Empty likewise.
  std::optional<double> speedup = {};
};

/// A throughput that something allows at most.
struct Ceiling {
  double bytes_per_second = 0;
  std::string of;  ///< "uploads alone", "the source without a pause".
};

/// What kept a run from being faster, and what to do about it.
struct Verdict {
  Bound bound = Bound::nothing_measured;
  std::vector<std::string> evidence = {};  ///< Two sentences, or one if nothing was measured.
  /// What the run came to: of the bytes that went up; down, if none went up; else that tiles had room for.
  double bytes_per_second = 0;
  std::optional<Ceiling> ceiling = {};  ///< What the bound allows, if it is one of the parts.
  std::optional<Ceiling> next = {};     ///< What all else allows; no advice promises more.
  std::vector<Advice> advice = {};      ///< At most two.
  std::string no_advice = {};           ///< Why nothing is advised though something may help, a sentence; or empty.
  std::optional<WhyNoStreams> streams_will_not_help = {};  ///< Empty if they might.
  std::optional<DeviceTimes> device_times = {};  ///< Not among what `describe` says; it has a line of its own.
};

/// In a line, for a person.
std::string describe(DeviceTimes const& times);

/// At most six lines, for a person.
std::string describe(Verdict const& verdict);

/// The first thing that went wrong in a run.
struct FirstFailure {
  Failure failure;
  /// The tile's place in the source's order and its tag; empty if no tile was concerned (the source ended the input by
  /// throwing, say).
  std::optional<std::uint64_t> sequence;
  std::uint64_t tag = 0;
};

/// What one device did in a run.
struct DeviceSummary {
  std::string name;          ///< As device_name: "cuda:1".
  unsigned lanes = 0;        ///< That drove it.
  std::uint64_t tiles = 0;   ///< Done.
  std::uint64_t failed = 0;  ///< That its lanes got and that failed.
  std::string loss;          ///< Why it was lost; empty if it was not.
};

/// Which of the tiles that lost devices had fail when each runs by itself (attribution() of observe.hpp).
struct Attribution {
  struct Culprit {
    std::uint64_t sequence = 0;  ///< The tile's place in the source's order.
    std::uint64_t tag = 0;
    Failure failure;  ///< Where it failed this time, and why.
  };
  std::vector<Culprit> culprits;
  std::vector<std::uint64_t> innocent;   ///< Sequences of those that did not fail.
  std::vector<std::uint64_t> not_tried;  ///< Sequences of the rest.
  std::string remark;                    ///< Why some were not tried, or what the answer does not tell; or empty.
};

/// A line for each culprit, one on the others, and the remark.
std::string describe(Attribution const& attribution);

struct Report;

/// Sends a sentence to the message hook (messages.hpp) when its last copy is destroyed and no copy was marked as read.
///
/// Threads: any, several at once.
class UnreadReport {
 public:
  /// Sends nothing.
  UnreadReport() = default;
  /// Sends what went wrong, if anything did and there is memory for the sentence.
  explicit UnreadReport(Report const& report) noexcept;
  void mark_read() const noexcept;

 private:
  struct Message;
  std::shared_ptr<Message> message_;
};

/// What a run did. Each tile submitted is counted once, as done, failed or cancelled.
struct Report {
  std::uint64_t tiles_done = 0;
  std::uint64_t tiles_failed = 0;
  std::uint64_t tiles_cancelled = 0;
  /// Completions on which the sink threw, whatever their outcome was.
  std::uint64_t sink_failures = 0;
  std::uint64_t bytes_in = 0;        ///< Filled bytes of the tiles that are done.
  std::uint64_t bytes_out = 0;       ///< Produced bytes of the tiles that are done.
  std::chrono::nanoseconds wall{0};  ///< From start to the last completion and the merge.
  /// CPU time of the process during the run, with that of the application's own threads.
  std::chrono::nanoseconds cpu{0};
  unsigned cpus = 0;  ///< That the process may use; 0 if that is not known.
  /// CPU time that other processes had of these CPUs during the run, to some 20 ms. 0 if that is not known, or if the
  /// run was not recorded.
  std::chrono::nanoseconds cpu_of_others{0};
  /// What all producers, or all threads that feed, together waited for tiles.
  std::chrono::nanoseconds borrow_wait{0};
  /// What all producers together rested because others of them were enough.
  std::chrono::nanoseconds producers_rest{0};
  std::chrono::nanoseconds fill{0};  ///< What all producers together spent in the source.
  std::chrono::nanoseconds sink{0};  ///< What all consumers together spent in the sink.
  bool stopped = false;              ///< It was asked to stop before the input ended.
  std::optional<FirstFailure> first_failure;
  /// The first completion on which the sink threw.
  std::optional<FirstFailure> first_sink_failure;
  /// What went wrong with the run and not with one tile, each in its turn: the source ended the input by throwing, a
  /// lane's stage could not be finished or merged, so its share of the result is missing.
  std::vector<Failure> run_failures;
  std::vector<LaneSummary> lanes;
  std::vector<DeviceSummary> devices;  ///< In the pipeline's order.
  /// What bounded the run and what to change, if a hook of verdicts() was there; null if it was not, or if no tile
  /// is done or a device was lost.
  std::shared_ptr<Verdict const> verdict;
  /// Which CPUs the threads were bound to, and on which NUMA nodes a sample of the tiles' pages lay: "Threads: 3
  /// producers, 1 lane on CPUs 0-3 (node 0); 1 consumer not bound. Pages: 40 MiB on node 0, by move_pages(2) of 256
  /// pages."
  std::string placement;
  std::size_t pool_tiles = 0;  ///< Tiles of the pipeline, and the memory that is pinned for them.
  std::size_t pool_bytes = 0;
  std::size_t pool_reserve = 0;  ///< Of these tiles, those that stay home while few producers are at work.
  unsigned nodes = 0;            ///< NUMA nodes that the process may use; 0 if that is not known.
  /// Null if no hook of attribution() asked for it, or no device was lost.
  std::shared_ptr<Attribution const> attribution;
  std::vector<std::string> remarks;  ///< What the machine would not do (bind a thread, place a page), in words.
  /// Input that the source did not pass on: one entry for each reason. A job adds what it could not use.
  std::vector<LeftOut> left_out;
  /// Sends a message if the run did not go well and neither `ok` nor `describe` is called before the report is gone.
  UnreadReport unread;

  std::uint64_t tiles() const noexcept { return tiles_done + tiles_failed + tiles_cancelled; }
  /// How the lanes learned that their devices had passed tiles, summed over all lanes.
  FoundTiles found() const noexcept;
  /// True if every tile is done, no input is lost (any_lost), and nothing else went wrong.
  bool ok() const noexcept;
};

/// The report in one line for a person, one on how completions came, one on where threads and tiles were, if the
/// machine has several NUMA nodes, and one for each kind of failure; of several devices one for each that was lost;
/// which tile lost a device, what input was left out, and the verdict, if these are there.
std::string describe(Report const& report);

/// Which of several devices were lost, with how many tiles, and why: a sentence or more. Empty if none was, or if there
/// was one device only.
std::string lost_devices(Report const& report);

}  // namespace penstock
