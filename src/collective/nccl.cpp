// SPDX-License-Identifier: Apache-2.0
#include "collective/nccl.hpp"

#include "collective/nccl_calls.hpp"
#include "engine/core/own_process.hpp"
#include "engine/core/shared_library.hpp"
#include "penstock/error.hpp"

namespace penstock {
namespace {

[[noreturn]] void refuse(std::string const& what) {
  throw Error(ErrorKind::unsupported, what);
}

/// NCCL, by its name or in the usual folders.
struct Library : SharedLibrary {
  explicit Library(std::string const& wish)
      : SharedLibrary(wish.empty() ? cuda_library_names({soname}, soname, {"lib64", "lib"}) : std::vector{wish}) {
    if (loaded()) return;
    refuse("There is no NCCL: " + (wish.empty() ? std::string(soname) : wish) + " cannot be loaded (" + reasons() +
           "). NVIDIA has it as a package of its own, libnccl2, and CUDA_HOME or LD_LIBRARY_PATH says where it is.");
  }
  template <class Function>
  void load(Function*& function, char const* name) const {
    find(function, name);
    if (function == nullptr) refuse(std::string("This is no NCCL 2: it has no ") + name + ".");
  }
  static constexpr char const* soname = "libnccl.so.2";
};

int code_of(ElementType type) {
  switch (type) {
    case ElementType::u32:
      return nccl::uint32;
    case ElementType::i32:
      return nccl::int32;
    case ElementType::u64:
      return nccl::uint64;
    case ElementType::i64:
      return nccl::int64;
    case ElementType::f32:
      return nccl::float32;
    case ElementType::f64:
      break;
  }
  return nccl::float64;
}

int code_of(ReduceOperation operation) {
  return operation == ReduceOperation::sum ? nccl::sum : operation == ReduceOperation::min ? nccl::min : nccl::max;
}

/// The version in the encoding of NCCL_VERSION in nccl.h, which changed with 2.9.
std::string version_text(int code) {
  int const major = code < 10000 ? 1000 : 10000;
  return std::to_string(code / major) + '.' + std::to_string(code % major / 100) + '.' + std::to_string(code % 100);
}

class LoadedNccl final : public Nccl {
 public:
  LoadedNccl(std::vector<int> const& gpus, std::string const& wish, NcclChannels const& channels) {
    Library const library(wish);
    library.load(calls_.get_version, "ncclGetVersion");
    library.load(calls_.error_text, "ncclGetErrorString");
    library.load(calls_.init_all, "ncclCommInitAll");
    library.load(calls_.destroy, "ncclCommDestroy");
    library.load(calls_.group_start, "ncclGroupStart");
    library.load(calls_.group_end, "ncclGroupEnd");
    library.load(calls_.reduce, "ncclReduce");
    library.load(calls_.all_reduce, "ncclAllReduce");
    library.find(calls_.get_unique_id, "ncclGetUniqueId");
    library.find(calls_.init_rank, "ncclCommInitRankConfig");
    int version = 0;
    expect(calls_.get_version(&version), ErrorKind::unsupported, "to say which it is");
    name_ = "NCCL " + version_text(version);
    bool const tells = static_cast<unsigned>(version) >= nccl::Config::first_version &&
                       calls_.get_unique_id != nullptr && calls_.init_rank != nullptr;
    if (channels.most > 0 && !tells) remark_ = ", which is too old to be told how many blocks it may have";
    std::vector<nccl::Calls::Communicator> made(gpus.size());
    int const code = channels.most > 0 && tells
                         ? init_each(made, channels)
                         : calls_.init_all(made.data(), static_cast<int>(gpus.size()), gpus.data());
    expect(code, ErrorKind::unsupported, "a communicator for " + std::to_string(gpus.size()) + " GPUs");
    communicators_ = std::move(made);
  }
  LoadedNccl(LoadedNccl const&) = delete;
  LoadedNccl& operator=(LoadedNccl const&) = delete;
  ~LoadedNccl() override {
    if (!process_.is_current()) return;
    for (auto const communicator : communicators_) calls_.destroy(communicator);
  }

  void reduce(std::span<Part const> parts, ElementType type, ReduceOperation operation) override {
    as_a_group(parts, "to reduce", [&](Part const& part, nccl::Calls::Communicator communicator) {
      return calls_.reduce(part.array.data(), part.array.data(), part.array.size() / element_bytes(type), code_of(type),
                           code_of(operation), 0, communicator, part.stream.native());
    });
  }
  void all_reduce(std::span<Part const> parts, ElementType type, ReduceOperation operation) override {
    as_a_group(parts, "an all-reduce", [&](Part const& part, nccl::Calls::Communicator communicator) {
      return calls_.all_reduce(part.array.data(), part.array.data(), part.array.size() / element_bytes(type),
                               code_of(type), code_of(operation), communicator, part.stream.native());
    });
  }
  std::string const& remark() const noexcept override { return remark_; }
  std::string const& name() const noexcept override { return name_; }
  void leave() noexcept override { communicators_.clear(); }

 private:
  int init_each(std::vector<nccl::Calls::Communicator>& made, NcclChannels const& channels) const {
    nccl::UniqueId id{};
    if (int const code = calls_.get_unique_id(&id); code != 0) return code;
    nccl::Config config;
    config.max_ctas = static_cast<int>(channels.most);
    if (int const code = calls_.group_start(); code != 0) return code;
    int refused = 0;
    for (std::size_t i = 0; i < made.size() && refused == 0; ++i) {
      channels.attach(i);
      refused = calls_.init_rank(&made[i], static_cast<int>(made.size()), id, static_cast<int>(i), &config);
    }
    int const ended = calls_.group_end();
    return refused != 0 ? refused : ended;
  }

  /// Calls `call(part, communicator)` for each part, in one group.
  template <class Call>
  void as_a_group(std::span<Part const> parts, char const* what, Call call) {
    if (parts.size() != communicators_.size()) {
      throw Error(ErrorKind::bad_argument, "NCCL was opened for " + std::to_string(communicators_.size()) +
                                               " GPUs, not " + std::to_string(parts.size()) + ".");
    }
    expect(calls_.group_start(), ErrorKind::device_refused, "to begin");
    int refused = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      int const code = call(parts[i], communicators_[i]);
      if (refused == 0) refused = code;
    }
    // The group must end in any case; otherwise all later calls would belong to it.
    int const ended = calls_.group_end();
    // A group with a refused call is given up as a whole.
    expect(refused, ErrorKind::device_refused, what);
    expect(ended, ErrorKind::device_lost, "to end");
  }

  void expect(int code, ErrorKind kind, std::string const& what) const {
    if (code == 0) return;
    // Most of its texts tell in brackets how to learn more, and none ends as a sentence.
    throw Error(kind, (name_.empty() ? "NCCL" : name_) + " refuses " + what + ": " + calls_.error_text(code) + '.');
  }

  nccl::Calls calls_;
  std::string name_;
  std::string remark_;
  OwnProcess const process_;
  std::vector<nccl::Calls::Communicator> communicators_;
};

}  // namespace

std::unique_ptr<Nccl> Nccl::open(std::vector<int> const& gpus, std::string const& library,
                                 NcclChannels const& channels) {
  return std::make_unique<LoadedNccl>(gpus, library, channels);
}

}  // namespace penstock
