// SPDX-License-Identifier: Apache-2.0
#include "observe/cupti/activity_log.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "engine/core/shared_library.hpp"
#include "observe/cupti/activity_records.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

using namespace cupti;
using Clock = StepLog::Clock;

/// End of the engine names of its rows.
constexpr std::string_view logged = ", as CUPTI logged it";

/// Work of the device that CUPTI reported.
struct Activity {
  Step step = Step::upload;
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Maximum number of activities of wanted tiles that are kept: some 100 MB.
constexpr std::size_t most_activities = std::size_t{1} << 21;
constexpr std::size_t buffer_bytes = std::size_t{1} << 20;
constexpr std::array kinds{Kind::external, Kind::runtime, Kind::memcpy, Kind::kernel};

[[noreturn]] void refuse(std::string const& what) {
  throw Error(ErrorKind::unsupported, what);
}

/// CUPTI, by its name or in the usual folders.
struct Library : SharedLibrary {
  explicit Library(std::string const& wish)
      : SharedLibrary(wish.empty() ? cuda_library_names({"libcupti.so.13", "libcupti.so.12"}, "libcupti.so",
                                                        {"extras/CUPTI/lib64", "lib64", "lib"})
                                   : std::vector{wish}) {
    if (loaded()) return;
    refuse("There is no CUPTI: " + (wish.empty() ? std::string("libcupti.so.13") : wish) +
           " cannot be loaded. Install the CUDA toolkit, which has it, or say by CUDA_HOME or LD_LIBRARY_PATH where it "
           "is.");
  }
  template <class Function>
  void load(Function*& function, char const* name) const {
    find(function, name);
    if (function == nullptr) refuse(std::string("This CUPTI is none of CUDA 12 or 13: it has no ") + name + ".");
  }
};

class CuptiLog;
/// CUPTI passes no object to its callbacks, and allows one user in a process.
std::atomic<CuptiLog*> the_log{nullptr};

class CuptiLog final : public ActivityLog {
 public:
  CuptiLog(StepLog& recorder, std::string const& library) : recorder_(recorder), library_(library) {
    library_.load(calls_.register_timestamp, "cuptiActivityRegisterTimestampCallback");
    library_.load(calls_.register_callbacks, "cuptiActivityRegisterCallbacks");
    library_.load(calls_.enable, "cuptiActivityEnable");
    library_.load(calls_.disable, "cuptiActivityDisable");
    library_.load(calls_.flush_all, "cuptiActivityFlushAll");
    library_.load(calls_.next_record, "cuptiActivityGetNextRecord");
    library_.load(calls_.push, "cuptiActivityPushExternalCorrelationId");
    library_.load(calls_.pop, "cuptiActivityPopExternalCorrelationId");
    CuptiLog* none = nullptr;
    if (!the_log.compare_exchange_strong(none, this)) refuse("CUPTI serves one at a time, and another has it.");
    try {
      // CUPTI's times are taken from our clock, which is the host's, and need no mapping.
      expect(calls_.register_timestamp(now), "a clock of ours");
      expect(calls_.register_callbacks(request, complete), "buffers of ours");
      for (Kind const kind : kinds) expect(calls_.enable(kind), "to log what the GPU does");
    } catch (...) {
      stop();
      throw;
    }
  }
  CuptiLog(CuptiLog const&) = delete;
  CuptiLog& operator=(CuptiLog const&) = delete;
  ~CuptiLog() override { stop(); }

  void begin(Step step, std::optional<std::uint64_t> tile) noexcept override {
    if (step == Step::enqueue && tile && recorder_.wants(*tile)) calls_.push(own_correlation, *tile);
  }
  void end(Step step) noexcept override {
    // A tile that was not wanted has no id to take back, and CUPTI reports that.
    std::uint64_t last = 0;
    if (step == Step::enqueue) calls_.pop(own_correlation, &last);
  }

  void finish() override {
    stop();
    std::scoped_lock const lock(mutex_);
    std::map<std::tuple<std::uint32_t, std::uint32_t, Step>, std::uint32_t> rows;
    for (Activity const& activity : activities_) {
      auto const tile = tiles_.find(activity.correlation);
      if (tile == tiles_.end()) continue;  // It belongs to no tile, or to one that is not recorded.
      auto const [row, fresh] = rows.try_emplace({activity.device, activity.stream, activity.step}, 0U);
      if (fresh) row->second = add_row(activity);
      recorder_.note(row->second, activity.step, tile->second, moment(activity.begin), moment(activity.end));
    }
    activities_.clear();
    tiles_.clear();
  }

 private:
  static std::uint64_t now() {
    auto const time = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch());
    return static_cast<std::uint64_t>(time.count());
  }
  static Clock::time_point moment(std::uint64_t time) {
    return Clock::time_point(std::chrono::nanoseconds(static_cast<std::int64_t>(time)));
  }
  static void request(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
    *buffer =
        static_cast<std::uint8_t*>(::operator new(buffer_bytes, std::align_val_t(buffer_alignment), std::nothrow));
    *size = *buffer == nullptr ? 0 : buffer_bytes;
    *most_records = 0;
  }
  static void complete(void* /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer, std::size_t /*size*/,
                       std::size_t valid) {
    CuptiLog* const log = the_log.load();
    if (log != nullptr) log->read(buffer, valid);
    ::operator delete(buffer, std::align_val_t(buffer_alignment));
  }

  /// Called on a thread of CUPTI, or on the one that flushes.
  void read(std::uint8_t* buffer, std::size_t valid) {
    std::scoped_lock const lock(mutex_);
    std::uint8_t* record = nullptr;
    while (calls_.next_record(buffer, valid, &record) == 0) {
      auto const kind = field<Kind>(record, 0);
      if (kind == Kind::external) {
        if (field<int>(record, external_record::kind) != own_correlation) continue;
        tiles_[field<std::uint32_t>(record, external_record::correlation)] =
            field<std::uint64_t>(record, external_record::id);
      } else if (kind == Kind::memcpy) {
        auto const way = field<std::uint8_t>(record, memcpy_record::way);
        if (way == copy_in || way == copy_out) {
          keep({way == copy_in ? Step::upload : Step::download, field<std::uint32_t>(record, memcpy_record::device),
                field<std::uint32_t>(record, memcpy_record::stream),
                field<std::uint32_t>(record, memcpy_record::correlation),
                field<std::uint64_t>(record, memcpy_record::begin), field<std::uint64_t>(record, memcpy_record::end)});
        }
      } else if (kind == Kind::kernel) {
        keep({Step::stage, field<std::uint32_t>(record, kernel_record::device),
              field<std::uint32_t>(record, kernel_record::stream),
              field<std::uint32_t>(record, kernel_record::correlation),
              field<std::uint64_t>(record, kernel_record::begin), field<std::uint64_t>(record, kernel_record::end)});
      }
    }
  }
  void keep(Activity const& activity) {
    if (activities_.size() >= forget_at_) forget();
    if (activities_.size() < most_activities) activities_.push_back(activity);
  }
  /// Discards activities of no tile, or of a tile that the recorder no longer wants since it thinned out.
  void forget() {
    auto const unwanted = [&](Activity const& activity) {
      auto const tile = tiles_.find(activity.correlation);
      return tile == tiles_.end() || !recorder_.wants(tile->second);
    };
    activities_.erase(std::remove_if(activities_.begin(), activities_.end(), unwanted), activities_.end());
    std::erase_if(tiles_, [&](auto const& tile) { return !recorder_.wants(tile.second); });
    // The next search is put off, if little could be discarded.
    forget_at_ = std::min(most_activities, std::max(forget_at_, activities_.size() + most_activities / 8));
    if (activities_.size() > most_activities - most_activities / 8)
      forget_at_ = std::numeric_limits<std::size_t>::max();
  }

  std::uint32_t add_row(Activity const& activity) {
    std::string const engine = "GPU " + std::to_string(activity.device) + " " + std::string(step_name(activity.step));
    return recorder_.add_row(engine + ", CUPTI's stream " + std::to_string(activity.stream), RecordRow::Kind::stream,
                             engine + std::string(logged));
  }

  static void expect(int code, std::string const& what) {
    if (code == 0) return;
    bool const privileges = code == refused_privileges || code == refused_virtual_privileges;
    refuse("CUPTI refuses " + what + ", with error " + std::to_string(code) +
           (privileges ? ": only administrators may profile here, see NVIDIA's NVreg_RestrictProfilingToAdminUsers."
                       : ": see cupti_result.h, and that NVIDIA's driver is installed, as nvidia-smi says."));
  }

  void stop() {
    if (the_log.load() != this) return;
    for (Kind const kind : kinds) calls_.disable(kind);
    constexpr std::uint32_t also_what_is_not_complete = 1;
    calls_.flush_all(also_what_is_not_complete);
    the_log.store(nullptr);
  }

  StepLog& recorder_;
  Library const library_;
  Calls calls_;
  std::mutex mutex_;
  std::vector<Activity> activities_;
  std::size_t forget_at_ = most_activities / 2;
  std::unordered_map<std::uint32_t, std::uint64_t> tiles_;  ///< Tiles by the correlation of a call.
};

}  // namespace

std::unique_ptr<ActivityLog> ActivityLog::open(StepLog& recorder, std::string const& library) {
  return std::make_unique<CuptiLog>(recorder, library);
}

Recording without_activities(Recording recording) {
  std::erase_if(recording.passages,
                [&](Passage const& passage) { return recording.rows[passage.row].engine.ends_with(logged); });
  return recording;
}

}  // namespace penstock
