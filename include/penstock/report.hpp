// SPDX-License-Identifier: Apache-2.0
// The report of a run, its bottleneck, and a recording as a trace for Perfetto.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/clock.hpp"
#include "penstock/error.hpp"
#include "penstock/tile.hpp"

namespace penstock {

/// Numbers of tiles by the way in which lanes learned that their device had passed them.
///
/// Units: tiles.
struct FoundTiles {
  /// A ticket came, from a callback or host function of the driver, or from the thread of `event_block`.
  std::uint64_t by_callback = 0;
  std::uint64_t by_look = 0;      ///< The lane queried its device, or read a flag that the device wrote.
  std::uint64_t by_watchdog = 0;  ///< The watchdog had woken the lane: the signal was lost or late.

  std::uint64_t all() const noexcept { return by_callback + by_look + by_watchdog; }
  FoundTiles& operator+=(FoundTiles const& other) noexcept;
  friend bool operator==(FoundTiles const&, FoundTiles const&) = default;
};

/// "62 % by callback, 38 % by looking, 0 % by the watchdog"; empty if there are no tiles.
std::string describe(FoundTiles const& found);

/// The counts of one lane since the run began, and the number of tiles that wait for it.
struct LaneSnapshot {
  std::size_t device = 0;        ///< The index of its device in Snapshot::devices.
  std::uint64_t put = 0;         ///< Tiles that the lane has put on its device.
  std::uint64_t returned = 0;    ///< Tiles of these that it has retired.
  std::uint64_t done = 0;        ///< Tiles of those retired whose outcome is done.
  std::uint64_t failed = 0;      ///< Tiles that the lane took and that failed, for any reason.
  std::uint64_t batches = 0;     ///< Batches that it has put on its device.
  std::uint64_t bytes_up = 0;    ///< Filled bytes of the tiles that are done.
  std::uint64_t bytes_down = 0;  ///< Produced bytes of the tiles that are done.
  FoundTiles found = {};
  std::size_t waiting = 0;  ///< Tiles that the lane has and has not put on its device yet. Approximate.
  bool lost = false;        ///< The device serves no tile any more.

  /// Tiles on the device.
  std::uint64_t in_flight() const noexcept { return put - returned; }
};

/// The sum of a device's lanes.
struct DeviceSnapshot {
  std::string name;  ///< The device_name: "cuda:1".
  unsigned lanes = 0;
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  unsigned lanes_lost = 0;  ///< Lanes whose device serves no tile any more.
};

/// The tiles of a pipeline's pool.
struct PoolSnapshot {
  std::size_t tiles = 0;
  std::size_t lent = 0;      ///< Tiles on loan.
  std::size_t home = 0;      ///< Tiles that are free.
  std::size_t stranded = 0;  ///< Tiles that will never be lent again (docs/faults.md). While their loans live, they are
                             /// in `lent`.
  std::size_t borrowers = 0;  ///< Threads that sleep until a tile is free.
};

/// The state of a pipeline at one moment. The counts are those of the current run; between two runs they are 0.
///
/// Other threads continue while a snapshot is taken, so its counts are not of one instant. But these relations hold in
/// every snapshot:
///   done + failed + cancelled <= submitted; sink_failures <= done + failed + cancelled
///   done <= the lanes' `done`, which are <= their `returned`, <= their `put`, <= submitted in all
///   a lane's found.all() <= its `returned`
///   lent + home <= tiles of the pool
/// No count is less than in an earlier snapshot of the same run. In the last snapshot of a run that drains,
/// done + failed + cancelled equals submitted.
struct Snapshot {
  Clock::time_point at = {};  ///< Time of the snapshot.
  /// The number of the run, from 1. Between two runs it is that of the last run, and before the first it is 0.
  std::uint64_t run = 0;
  bool running = false;
  std::uint64_t submitted = 0;      ///< Tiles that producers or a Feed submitted.
  std::uint64_t done = 0;           ///< Tiles that reached the sink and are done.
  std::uint64_t failed = 0;         ///< Tiles that reached the sink and failed.
  std::uint64_t cancelled = 0;      ///< Tiles that reached the sink and were cancelled.
  std::uint64_t sink_failures = 0;  ///< Tiles on which the sink threw.
  std::vector<LaneSnapshot> lanes = {};
  std::vector<DeviceSnapshot> devices = {};  ///< Devices in the pipeline's order.
  PoolSnapshot pool = {};

  /// Tiles that were submitted and have not reached the sink.
  std::uint64_t under_way() const noexcept { return submitted - done - failed - cancelled; }
  /// Tiles on the devices.
  std::uint64_t in_flight() const noexcept;
  std::uint64_t bytes_up() const noexcept;
  std::uint64_t bytes_down() const noexcept;
  FoundTiles found() const noexcept;
};

/// The rates of a pipeline between two snapshots.
///
/// Units: tiles per second and bytes per second, unless a member states another.
struct Rates {
  double seconds = 0;    ///< Seconds between the two snapshots.
  double submitted = 0;  ///< Rate of Snapshot::submitted; the next two are rates of their namesakes.
  double done = 0;
  double failed = 0;
  double bytes_up = 0;
  double bytes_down = 0;
  std::vector<double> devices = {};  ///< Tiles that each device did, in the order of Snapshot::devices.
  FoundTiles found = {};             ///< A number of tiles, not a rate.
};

/// The rates between two snapshots. Empty if they are not of the same run, if that run had ended, or if `later` was not
/// taken later.
std::optional<Rates> rates(Snapshot const& earlier, Snapshot const& later);

/// One line for a person: the numbers of tiles by place.
std::string describe(Snapshot const& snapshot);

/// One line for a person who watches: bytes and tiles per second between two snapshots, failures, and the part that the
/// run waits for: "1.2 GB/s in, 1150 tiles/s; 12 of 16 tiles lent; waits for the device". This is the part with the
/// most tiles, or the source if a tile is free. The rates are omitted if there are none.
std::string live_line(Snapshot const& earlier, Snapshot const& later);

/// Counts and times of one lane.
struct LaneSummary {
  std::uint64_t tiles = 0;
  std::uint64_t batches = 0;  ///< Batches of tiles that were put on the device.
  std::uint64_t copies = 0;   ///< Copies requested from the device, both ways: neighbours in the pool are one.
  std::uint64_t mapped = 0;   ///< Tiles that their stage accessed in host memory.
  std::uint64_t graphs = 0;   ///< Tiles for which the stage was launched as a captured graph.
  bool may_map = false;       ///< True if its stage promises that it can work on host memory.
  std::uint64_t bytes_up = 0;
  std::uint64_t bytes_down = 0;
  std::uint64_t tickets = 0;            ///< Number of tickets that its signal delivered.
  std::uint64_t naps = 0;               ///< Number of times that it slept because its device had enough to do.
  FoundTiles found = {};                ///< Tiles by the way in which it learned that its device had passed them.
  std::chrono::nanoseconds served{0};   ///< Time from the first tile that it took to its end.
  std::chrono::nanoseconds idle{0};     ///< Part of this time in which it only polled its device or slept.
  std::uint64_t failed = 0;             ///< Tiles that it got and that failed, for any reason.
  std::shared_ptr<Failure const> loss;  ///< The reason why it gave its device up; null if it did not.
  /// The reason why its stage could not be captured, though it promises that: the stage was then run for each tile.
  /// Null if it was captured, or was not to be.
  std::shared_ptr<Failure const> not_captured;
};

/// The bottleneck of a run.
enum class Bound : std::uint8_t {
  upload,              ///< Copies to the device.
  download,            ///< Copies from it.
  kernel,              ///< Kernels of the device.
  fill,                ///< Work of producers in the source.
  sink,                ///< Work of consumers with results.
  submission,          ///< Work of lanes that gives the device its work.
  completion,          ///< Detection of finished tiles by lanes, and their work on them afterwards.
  too_few_tiles,       ///< All tiles were in progress, and no part had enough of them to be busy.
  serialising_stream,  ///< Work of the device is serialised, though it could run at once.
  source_waits,        ///< The source had no data, or the application submitted no more.
  cpus,                ///< The CPUs of the host had no time left for any part.
  nothing_measured,
};

/// Name of a bottleneck, as in docs/results.md: "upload", "too few tiles" and so on.
std::string_view bound_name(Bound bound) noexcept;

/// A change that should make a run faster.
struct Advice {
  /// Options and values, or a change of the work. The report of a pipeline names members of PipelineOptions, as
  /// "tuning.slots = 8"; the commands name their options, as "--slots 8".
  std::string change;
  double gain = 1;  ///< Expected factor of the throughput.
  std::string why;  ///< A sentence.
};

/// The reason why more streams would change nothing.
enum class NoStreams : std::uint8_t {
  kernels_fill_device,  ///< Kernels in as many streams as needed reach no more than they reach alone.
  link_full,            ///< Copies one way fill the link.
  host,                 ///< The device waits for the host: its source, its sink, its lanes.
  work_too_small,       ///< Work per tile takes longer than work per byte.
  barrier,              ///< Something makes work wait that is in separate streams.
};

/// Name of a reason, as in docs/results.md: "link full", "work too small" and so on.
std::string_view no_streams_name(NoStreams reason) noexcept;

struct WhyNoStreams {
  NoStreams reason = NoStreams::host;
  std::string sentence;  ///< "Streams will not help here, because ...".
};

/// Device times of a tile, and the speed-up because the device does several things at once.
///
/// H, D and K are the times during which it uploaded, downloaded and computed, as in Overlap.
/// Units: seconds; the mean of all tiles that were recorded. Empty if none was in that step.
struct DeviceTimes {
  std::optional<double> upload = {};
  std::optional<double> kernel = {};
  std::optional<double> download = {};
  std::optional<double> overlap = {};  ///< The overlap, as in Overlap.
  /// (|H| + |D| + |K|) / max(|H|, |D|, |K|): speed-up over serial execution if the shorter kinds were hidden behind the
  /// longest. Empty if not every tile was recorded.
  std::optional<double> possible_speedup = {};
  /// (|H| + |D| + |K|) / |H u D u K|: actual speed-up over serial execution, while the device was busy. Empty if not
  /// every tile was recorded.
  std::optional<double> speedup = {};
};

/// An upper bound of the throughput.
struct Ceiling {
  double bytes_per_second = 0;
  std::string of;  ///< "uploads alone", "the source without a pause".
};

/// The bottleneck of a run, and the advice.
struct Verdict {
  Bound bound = Bound::nothing_measured;
  std::vector<std::string> evidence = {};  ///< Two sentences, or one if there was no measurement.
  /// Throughput of the run: of bytes uploaded; of bytes downloaded, if none were uploaded; otherwise of the bytes of
  /// tiles.
  double bytes_per_second = 0;
  std::optional<Ceiling> ceiling = {};  ///< Throughput that the bottleneck allows, if it is one of the parts.
  std::optional<Ceiling> next = {};     ///< Throughput that all other parts allow; no advice promises more.
  std::vector<Advice> advice = {};      ///< At most two pieces of advice.
  std::string no_advice = {};           ///< A sentence on why there is no advice although some change may help; or
                                        /// empty.
  std::optional<WhyNoStreams> streams_will_not_help = {};  ///< Empty if more streams might help.
  std::optional<DeviceTimes> device_times = {};            ///< Not part of `describe`; it has a line of its own.
};

/// Describes the times in one line for a person.
std::string describe(DeviceTimes const& times);

/// Describes the verdict in at most six lines for a person.
std::string describe(Verdict const& verdict);

/// The first failure in a run.
struct FirstFailure {
  Failure failure;
  /// The tile's place in the source's order and its tag; empty if the failure concerns no tile (the source ended the
  /// input by throwing, for instance).
  std::optional<std::uint64_t> sequence;
  std::uint64_t tag = 0;
};

/// Summary of one device in a run.
struct DeviceSummary {
  std::string name;          ///< The device_name: "cuda:1".
  unsigned lanes = 0;        ///< Number of lanes that drove it.
  std::uint64_t tiles = 0;   ///< Tiles that are done.
  std::uint64_t failed = 0;  ///< Tiles that its lanes got and that failed.
  std::string loss;          ///< The reason why it was lost; empty if it was not.
};

/// Result of running the tiles of lost devices again, each alone: those that fail then, and the others (attribution()
/// of observe.hpp).
struct Attribution {
  struct Culprit {
    std::uint64_t sequence = 0;  ///< The tile's place in the source's order.
    std::uint64_t tag = 0;
    Failure failure;  ///< Place and reason of the failure this time.
  };
  std::vector<Culprit> culprits;
  std::vector<std::uint64_t> innocent;   ///< Sequences of the tiles that did not fail.
  std::vector<std::uint64_t> not_tried;  ///< Sequences of the tiles that were not run again.
  std::string remark;                    ///< The reason why some were not run, or a limit of the answer; or empty.
};

/// A line for each culprit, one on the other tiles, and the remark.
std::string describe(Attribution const& attribution);

struct Report;

/// Sends a sentence to the message hook (error.hpp) when its last copy is destroyed and no copy was marked as read.
///
/// Threads: any, several at once.
class UnreadReport {
 public:
  /// Has no report and sends nothing.
  UnreadReport() = default;
  /// Prepares a sentence on the report's failures, if there are any and there is memory for the sentence.
  explicit UnreadReport(Report const& report) noexcept;
  void mark_read() const noexcept;

 private:
  struct Message;
  std::shared_ptr<Message> message_;
};

/// Summary of a run. Each submitted tile is counted once, as done, failed or cancelled.
struct Report {
  std::uint64_t tiles_done = 0;
  std::uint64_t tiles_failed = 0;
  std::uint64_t tiles_cancelled = 0;
  /// Completions on which the sink threw, whatever their outcome was.
  std::uint64_t sink_failures = 0;
  std::uint64_t bytes_in = 0;        ///< Filled bytes of the tiles that are done.
  std::uint64_t bytes_out = 0;       ///< Produced bytes of the tiles that are done.
  std::chrono::nanoseconds wall{0};  ///< Time from the start to the last completion and the merge.
  /// CPU time of the process during the run, including the application's own threads.
  std::chrono::nanoseconds cpu{0};
  unsigned cpus = 0;  ///< Number of CPUs that the process may use; 0 if not known.
  /// CPU time that other processes used on these CPUs during the run, to some 20 ms. 0 if not known, or if the run was
  /// not recorded.
  std::chrono::nanoseconds cpu_of_others{0};
  /// Total time that all producers, or all threads that feed, waited for tiles.
  std::chrono::nanoseconds borrow_wait{0};
  /// Total time that producers rested because the others were enough.
  std::chrono::nanoseconds producers_rest{0};
  std::chrono::nanoseconds fill{0};  ///< Total time of all producers in the source.
  std::chrono::nanoseconds sink{0};  ///< Total time of all consumers in the sink.
  bool stopped = false;              ///< True if a stop was requested before the input ended.
  std::optional<FirstFailure> first_failure;
  /// The first completion on which the sink threw.
  std::optional<FirstFailure> first_sink_failure;
  /// Failures of the run that concern no single tile, in order: the source ended the input by throwing; a lane's stage
  /// could not be finished or merged, so its share of the result is missing.
  std::vector<Failure> run_failures;
  std::vector<LaneSummary> lanes;
  std::vector<DeviceSummary> devices;  ///< Devices in the pipeline's order.
  /// Bottleneck and advice, if the pipeline has a hook of verdicts(); null if it has not, or if no tile is done or a
  /// device was lost.
  std::shared_ptr<Verdict const> verdict;
  /// CPUs that the threads were bound to, and NUMA nodes of a sample of the tiles' pages: "Threads: 3 producers, 1 lane
  /// on CPUs 0-3 (node 0); 1 consumer not bound. Pages: 40 MiB on node 0, by move_pages(2) of 256 pages."
  std::string placement;
  std::size_t pool_tiles = 0;  ///< Number of the pipeline's tiles, and size of their pinned memory.
  std::size_t pool_bytes = 0;
  std::size_t pool_reserve = 0;  ///< Number of these tiles that stay free while few producers work.
  unsigned nodes = 0;            ///< Number of NUMA nodes that the process may use; 0 if not known.
  /// Null if no hook of attribution() requested it, or no device was lost.
  std::shared_ptr<Attribution const> attribution;
  std::vector<std::string> remarks;  ///< Requests that the machine refused (to bind a thread, to place a page), in
                                     /// words.
  /// Input that the source did not pass on: one entry for each reason. A job adds input that it could not use.
  std::vector<LeftOut> left_out;
  /// Sends a message if the run had failures and neither `ok` nor `describe` is called before the report is destroyed.
  UnreadReport unread;

  std::uint64_t tiles() const noexcept { return tiles_done + tiles_failed + tiles_cancelled; }
  /// Ways in which lanes learned that their devices had passed tiles, summed over all lanes.
  FoundTiles found() const noexcept;
  /// True if every tile is done, no input is lost (any_lost), and nothing else failed.
  bool ok() const noexcept;
};

/// The report in one line for a person, followed by a line on the ways completions came, one on the places of threads
/// and tiles if the machine has several NUMA nodes, and one for each kind of failure. If there are such, lines follow
/// on each lost device of several, the tile that lost a device, the input left out, and the verdict.
std::string describe(Report const& report);

/// One or more sentences on the devices that were lost, of several: the number of their tiles and the reason. Empty if
/// none was, or if there was only one device.
std::string lost_devices(Report const& report);

}  // namespace penstock
