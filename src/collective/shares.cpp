// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include "collective/nccl.hpp"
#include "kernels/basic/combine.hpp"
#include "penstock/collective.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

/// Throws: Error of kind bad_argument, if no array is that long.
std::size_t bytes_of(std::size_t count, ElementType type) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  if (count <= most / element_bytes(type)) return count * element_bytes(type);
  throw Error(ErrorKind::bad_argument, "A reduction of " + std::to_string(count) + " elements of " +
                                           std::to_string(element_bytes(type)) +
                                           " bytes is longer than memory can be: make it of fewer.");
}

}  // namespace

/// The implementation of Shares.
class Shares::Parts {
 public:
  Parts(DeviceGroup const& devices, std::size_t count, ElementType type, ReduceOperation operation,
        ReductionOptions const& options);
  Parts(Parts const&) = delete;
  Parts& operator=(Parts const&) = delete;
  ~Parts();

  /// These have the contracts of Shares.
  Share& share(StageContext const& context);
  MergedBytes merge();
  void clear();

 private:
  /// The part of one device.
  struct Member {
    Member(Device& its, std::size_t bytes)
        : device(its), name(device_name(its.info())), scratch(its.allocate(std::max<std::size_t>(bytes, 1))) {
      its.attach();
      stream.emplace(its.make_stream({.priority = its.info().greatest_priority}));
    }
    Device& device;
    std::string const name;                             ///< A lost device no longer describes itself.
    std::map<unsigned, std::unique_ptr<Share>> shares;  ///< Shares by lane.
    DeviceMemory scratch;
    std::optional<Stream> stream;  ///< Destroyed first; it waits for the users of the memory.
  };

  void make_members();
  std::vector<Member*> all_members() const;
  void set_members_aside();
  void gather(Member& member);
  void reduce(std::vector<Member*> const& members);
  bool merge_by_nccl(std::vector<Member*> const& healthy, MergedBytes& merged, std::string& why_not);
  void merge_on_host(std::vector<Member*> const& healthy, MergedBytes& merged, std::string const& why_not);

  DeviceGroup const devices_;
  std::size_t const bytes_;
  ElementType const type_;
  ReduceOperation const operation_;
  bool const while_running_;
  std::vector<std::byte> identity_;
  std::vector<std::unique_ptr<Member>> members_;  ///< Members in the order of the devices.
  std::unique_ptr<Nccl> nccl_;
  std::string why_no_nccl_;      ///< The reason why NCCL is no longer used in this reduction; empty while it may be.
  std::optional<Error> broken_;  ///< The reason why nothing may be merged any more.
  std::mutex mutex_;
};

Shares::Shares(DeviceGroup const& devices, std::size_t count, ElementType type, ReduceOperation operation,
               ReductionOptions const& options)
    : parts_(std::make_unique<Parts>(devices, count, type, operation, options)) {}

Shares::~Shares() = default;

Share& Shares::share(StageContext const& context) {
  return parts_->share(context);
}

MergedBytes Shares::merge() {
  return parts_->merge();
}

void Shares::clear() {
  parts_->clear();
}

Shares::Parts::Parts(DeviceGroup const& devices, std::size_t count, ElementType type, ReduceOperation operation,
                     ReductionOptions const& options)
    : devices_(devices),
      bytes_(bytes_of(count, type)),
      type_(type),
      operation_(operation),
      while_running_(options.while_running),
      identity_(bytes_) {
  fill_with_identity(identity_, type, operation);
  std::vector<int> gpus;
  for (Device* const device : devices_.all()) {
    if (DeviceInfo const info = device->info(); info.kind == DeviceKind::cuda) gpus.push_back(info.ordinal);
  }
  make_members();
  if (gpus.size() < 2 || gpus.size() != devices_.size()) return;
  if (!options.nccl) {
    why_no_nccl_ = "NCCL is not wanted.";
    return;
  }
  try {
    nccl_ = Nccl::open(gpus, options.nccl_library);
    // The first reduction makes NCCL connect the GPUs and allocate memory.
    reduce(all_members());
  } catch (Error const& error) {
    why_no_nccl_ = error.what();
    if (error.kind() == ErrorKind::device_lost) set_members_aside();
  }
}

Shares::Parts::~Parts() {
  if (nccl_ != nullptr && devices_.lost()) nccl_->leave();
}

void Shares::Parts::make_members() {
  for (Device* const device : devices_.all()) {
    auto& member = *members_.emplace_back(std::make_unique<Member>(*device, bytes_));
    combine_prepare(type_, operation_, *member.stream);
  }
}

std::vector<Shares::Parts::Member*> Shares::Parts::all_members() const {
  std::vector<Member*> all;
  for (auto const& member : members_) all.push_back(member.get());
  return all;
}

/// Keeps objects alive that NCCL may still use in their streams, perhaps for ever.
void Shares::Parts::set_members_aside() {
  if (nccl_ != nullptr) nccl_->leave();
  for (auto& member : members_) {
    Device& device = member->device;
    device.keep(std::shared_ptr<Member>(std::move(member)));
  }
  members_.clear();
  if (auto const loss = devices_.lost()) throw Error(*loss);
  make_members();
}

Share& Shares::Parts::share(StageContext const& context) {
  auto const found = std::find_if(members_.begin(), members_.end(),
                                  [&](auto const& member) { return &member->device == &context.device; });
  if (found == members_.end()) {
    throw Error(ErrorKind::bad_argument,
                "Lane " + std::to_string(context.lane) +
                    " is on a device that this reduction was not made for: give it all devices of the pipeline.");
  }
  std::scoped_lock const lock(mutex_);
  auto& shares = (*found)->shares;
  if (auto const made = shares.find(context.lane); made != shares.end()) return *made->second;
  auto fresh = std::make_unique<Share>(context.device, bytes_, while_running_);
  fresh->update(context.stream, [&] { context.stream.upload(fresh->array(), identity_); });
  return *shares.emplace(context.lane, std::move(fresh)).first->second;
}

MergedBytes Shares::Parts::merge() {
  std::scoped_lock const lock(mutex_);
  if (broken_) throw Error(*broken_);
  MergedBytes merged{.bytes = identity_, .how = {}, .missing = {}};
  std::vector<Member*> healthy;
  for (auto const& member : members_) {
    if (member->shares.empty()) continue;
    if (auto const loss = member->device.lost()) {
      merged.missing.push_back(member->name + ": " + loss->what());
    } else {
      healthy.push_back(member.get());
    }
  }
  std::string why_not = why_no_nccl_;
  if (!merge_by_nccl(healthy, merged, why_not)) merge_on_host(healthy, merged, why_not);
  return merged;
}

/// Enqueues the combination of the member's lanes into its scratch memory.
void Shares::Parts::gather(Member& member) {
  member.device.attach();
  // A failed merge may have left work in it, and the caller itself uploads from memory that is not pinned.
  Share::wait_by_asking(*member.stream);
  std::span<std::byte> const scratch = member.scratch.bytes().first(bytes_);
  member.stream->upload(scratch, identity_);
  for (auto const& of_lane : member.shares) {
    Share& share = *of_lane.second;
    share.read(*member.stream, [&] { combine(share.array(), scratch, type_, operation_, *member.stream); });
  }
}

/// Reduces the memory of all members into that of the first.
///
/// Throws: of kind device_lost, if NCCL may still be working, perhaps for ever; of another kind if it never began.
void Shares::Parts::reduce(std::vector<Member*> const& members) {
  std::vector<Nccl::Part> parts;
  for (Member* const member : members) parts.push_back({member->scratch.bytes().first(bytes_), *member->stream});
  nccl_->reduce(parts, type_, operation_);
  try {
    // Queries each in every round: if a GPU is lost, the others' kernels never learn of it.
    for (bool idle = false; !idle;) {
      std::this_thread::yield();
      idle = true;
      for (Member* const member : members) idle = member->stream->idle() && idle;
    }
  } catch (Error const& error) {
    throw Error(ErrorKind::device_lost, error.what());
  }
}

/// Returns false if it has not begun, because of `why_not`; the host then has to do it from the start.
bool Shares::Parts::merge_by_nccl(std::vector<Member*> const& healthy, MergedBytes& merged, std::string& why_not) {
  // A communicator works for all of its GPUs or for none.
  if (nccl_ == nullptr || !why_no_nccl_.empty() || healthy.size() != members_.size()) return false;
  try {
    for (Member* const member : healthy) gather(*member);
  } catch (Error const& error) {
    // This is no failure of NCCL.
    why_not = error.what();
    return false;
  }
  try {
    reduce(healthy);
  } catch (Error const& error) {
    if (error.kind() != ErrorKind::device_lost) {
      why_not = why_no_nccl_ = error.what();
      return false;
    }
    nccl_->leave();
    broken_.emplace(ErrorKind::device_lost,
                    std::string("A merge by ") + nccl_->name() + " failed on its way: " + error.what() +
                        " The other GPUs may wait in it for ever, so this reduction cannot merge any more: abandon "
                        "them before it ends.");
    throw Error(*broken_);
  }
  Member& root = *healthy.front();
  root.device.attach();
  root.stream->download(merged.bytes, root.scratch.bytes().first(bytes_));
  root.stream->synchronize();
  merged.how = "by " + nccl_->name() + " on " + std::to_string(healthy.size()) + " GPUs";
  return true;
}

/// Merges in host memory, in the order of the devices.
void Shares::Parts::merge_on_host(std::vector<Member*> const& healthy, MergedBytes& merged,
                                  std::string const& why_not) {
  std::vector<std::byte> one(bytes_);
  std::size_t devices = 0;
  for (Member* const member : healthy) {
    try {
      gather(*member);
      // Otherwise the driver would keep the caller in the download until the earlier kernels have ended.
      Share::wait_by_asking(*member->stream);
      member->stream->download(one, member->scratch.bytes().first(bytes_));
      member->stream->synchronize();
    } catch (Error const& error) {
      if (!member->device.lost()) throw;
      merged.missing.push_back(member->name + ": " + error.what());
      continue;
    }
    if (devices++ == 0) {
      merged.bytes.swap(one);
    } else {
      combine_on_host(one, merged.bytes, type_, operation_);
    }
  }
  if (devices == 0 && !merged.missing.empty()) {
    throw Error(ErrorKind::device_lost, "There is nothing left to merge: " + merged.missing.front());
  }
  if (devices < 2) {
    merged.how = devices == 1 ? "on one device" : "of no lane";
    return;
  }
  merged.how = "by memory of the host, of " + std::to_string(devices) + " devices";
  if (!why_not.empty()) merged.how += ", because: " + why_not;
}

void Shares::Parts::clear() {
  std::scoped_lock const lock(mutex_);
  if (broken_) throw Error(*broken_);
  for (auto const& member : members_) {
    if (member->device.lost()) continue;
    member->device.attach();
    Share::wait_by_asking(*member->stream);
    for (auto const& [lane, share] : member->shares) member->stream->upload(share->array(), identity_);
    member->stream->synchronize();
  }
}

}  // namespace penstock
