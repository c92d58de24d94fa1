// SPDX-License-Identifier: Apache-2.0
#include "penstock/collective/nccl.hpp"

#include "penstock/collective/nccl_calls.hpp"
#include "penstock/core/shared_library.hpp"
#include "penstock/error.hpp"

namespace penstock {
inline namespace PENSTOCK_FLAVOUR {
namespace {

[[noreturn]] void refuse(std::string const& what) {
  throw Error(ErrorKind::unsupported, what);
}

/// NCCL, by name or where it mostly lies.
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

/// As NCCL_VERSION in nccl.h has it, which changed with 2.9.
std::string version_text(int code) {
  int const major = code < 10000 ? 1000 : 10000;
  return std::to_string(code / major) + '.' + std::to_string(code % major / 100) + '.' + std::to_string(code % 100);
}

class LoadedNccl final : public Nccl {
 public:
  LoadedNccl(std::vector<int> const& gpus, std::string const& wish) {
    Library const library(wish);
    library.load(calls_.get_version, "ncclGetVersion");
    library.load(calls_.error_text, "ncclGetErrorString");
    library.load(calls_.init_all, "ncclCommInitAll");
    library.load(calls_.destroy, "ncclCommDestroy");
    library.load(calls_.group_start, "ncclGroupStart");
    library.load(calls_.group_end, "ncclGroupEnd");
    library.load(calls_.reduce, "ncclReduce");
    int version = 0;
    expect(calls_.get_version(&version), ErrorKind::unsupported, "to say which it is");
    name_ = "NCCL " + version_text(version);
    std::vector<nccl::Calls::Communicator> made(gpus.size());
    expect(calls_.init_all(made.data(), static_cast<int>(gpus.size()), gpus.data()), ErrorKind::unsupported,
           "a communicator for " + std::to_string(gpus.size()) + " GPUs");
    communicators_ = std::move(made);
  }
  LoadedNccl(LoadedNccl const&) = delete;
  LoadedNccl& operator=(LoadedNccl const&) = delete;
  ~LoadedNccl() override {
    for (auto const communicator : communicators_) calls_.destroy(communicator);
  }

  void reduce(std::span<Part const> parts, ElementType type, ReduceOperation operation) override {
    if (parts.size() != communicators_.size()) {
      throw Error(ErrorKind::bad_argument, "NCCL was opened for " + std::to_string(communicators_.size()) +
                                               " GPUs, not " + std::to_string(parts.size()) + ".");
    }
    expect(calls_.group_start(), ErrorKind::device_refused, "to begin");
    int refused = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::span<std::byte> const array = parts[i].array;
      int const code = calls_.reduce(array.data(), array.data(), array.size() / element_bytes(type), code_of(type),
                                     code_of(operation), 0, communicators_[i], parts[i].stream.native());
      if (refused == 0) refused = code;
    }
    // In any case, or all that comes later would be of this group.
    int const ended = calls_.group_end();
    // A group with a call that was refused is given up as a whole.
    expect(refused, ErrorKind::device_refused, "to reduce");
    expect(ended, ErrorKind::device_lost, "to end");
  }
  std::string const& name() const noexcept override { return name_; }
  void leave() noexcept override { communicators_.clear(); }

 private:
  void expect(int code, ErrorKind kind, std::string const& what) const {
    if (code == 0) return;
    // Most of its texts say how to learn more, in brackets, and none ends as a sentence.
    throw Error(kind, (name_.empty() ? "NCCL" : name_) + " refuses " + what + ": " + calls_.error_text(code) + '.');
  }

  nccl::Calls calls_;
  std::string name_;
  std::vector<nccl::Calls::Communicator> communicators_;
};

}  // namespace

std::unique_ptr<Nccl> Nccl::open(std::vector<int> const& gpus, std::string const& library) {
  return std::make_unique<LoadedNccl>(gpus, library);
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock
