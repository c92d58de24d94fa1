// SPDX-License-Identifier: Apache-2.0
#include "c/module_kernel.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "c/calls.hpp"

#include "engine/core/shared_library.hpp"

namespace penstock::c {
namespace {

/// What is used of the driver's library (cuda.h); its results are 0, or numbers of errors.
struct Driver {
  int (*load_library)(void** library, void const* code, int* jit_options, void** jit_values, unsigned jit_count,
                      int* options, void** values, unsigned count) = nullptr;
  int (*unload_library)(void* library) = nullptr;
  int (*get_kernel)(void** kernel, void* library, char const* name) = nullptr;
  int (*get_function)(void** function, void* kernel) = nullptr;
  int (*launch)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                unsigned block_z, unsigned shared_bytes, void* stream, void** arguments, void** extra) = nullptr;
  int (*describe)(int error, char const** text) = nullptr;

  static Driver const& get() {
    static Driver const driver;
    return driver;
  }
  Driver() {
    SharedLibrary const library({"libcuda.so.1"});
    if (!library.loaded()) return;
    library.find(load_library, "cuLibraryLoadData");
    library.find(unload_library, "cuLibraryUnload");
    library.find(get_kernel, "cuLibraryGetKernel");
    library.find(get_function, "cuKernelGetFunction");
    library.find(launch, "cuLaunchKernel");
    library.find(describe, "cuGetErrorString");
  }
  bool is_whole() const noexcept {
    return load_library != nullptr && unload_library != nullptr && get_kernel != nullptr && get_function != nullptr &&
           launch != nullptr && describe != nullptr;
  }
  std::string words(int error) const {
    char const* text = nullptr;
    if (describe == nullptr || describe(error, &text) != 0 || text == nullptr) return "error " + std::to_string(error);
    return text;
  }
};

// Numbers of cuda.h.
constexpr int jit_error_log = 5;
constexpr int jit_error_log_bytes = 6;
constexpr int invalid_image = 200;
constexpr int no_binary_for_gpu = 209;
constexpr int invalid_ptx = 218;
constexpr int not_found = 500;

constexpr std::uint32_t preset_block = 256;
constexpr std::uint32_t most_threads_of_block = 1024;

bool has_value(std::uint32_t kind) noexcept {
  return kind == PENSTOCK_KERNEL_VALUE;
}

penstock_kernel_of_module checked(penstock_kernel_of_module shape) {
  if (shape.block == 0) shape.block = preset_block;
  if (shape.per_thread == 0) shape.per_thread = 1;
  if (shape.element_bytes == 0) shape.element_bytes = 1;
  if (shape.block > most_threads_of_block) {
    throw Error(ErrorKind::bad_argument,
                "A block of " + std::to_string(shape.block) + " threads is more than a GPU has: 1024 is the most.");
  }
  if (shape.image_bytes == 0) throw Error(ErrorKind::bad_argument, "The image of the kernel is empty.");
  // The texts are copied apart.
  shape.image = nullptr;
  shape.name = nullptr;
  shape.arguments = nullptr;
  return shape;
}

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

}  // namespace

ModuleKernel::ModuleKernel(penstock_kernel_of_module const& described)
    : image_(&existing(static_cast<char const*>(described.image), "image"), described.image_bytes),
      name_(&existing(described.name, "name")),
      shape_(checked(described)) {
  for (std::size_t i = 0; i < described.argument_count; ++i) {
    penstock_kernel_argument const& given = existing(described.arguments + i, "arguments");
    if (given.kind < PENSTOCK_KERNEL_INPUT || given.kind > PENSTOCK_KERNEL_VALUE) {
      throw Error(ErrorKind::unsupported, "Argument " + std::to_string(i) + " of the kernel '" + name_ +
                                              "' is of a kind that this version of the library does not know.");
    }
    Argument argument{.kind = given.kind, .value = {}};
    if (has_value(given.kind)) {
      expect_bytes(given.value, 1, "value");
      if (given.bytes == 0) {
        throw Error(ErrorKind::bad_argument,
                    "Argument " + std::to_string(i) + " of the kernel '" + name_ + "' has no bytes: set its size.");
      }
      auto const* const bytes = static_cast<std::byte const*>(given.value);
      argument.value.assign(bytes, bytes + given.bytes);
    }
    arguments_.push_back(std::move(argument));
  }
}

ModuleKernel::~ModuleKernel() {
  Driver const& driver = Driver::get();
  if (library_ != nullptr && driver.unload_library != nullptr) static_cast<void>(driver.unload_library(library_));
}

/// An image may be read only when its kernel is asked for.
void ModuleKernel::refuse(int error, std::string const& reason, penstock_lane const& lane) const {
  bool const unfit = error == no_binary_for_gpu || error == invalid_image || error == invalid_ptx;
  throw Error(unfit ? ErrorKind::unsupported : ErrorKind::device_refused,
              "The image of the kernel '" + name_ + "' cannot be loaded on " + lane.device + ": " + reason +
                  ". It is a cubin or a fatbin for this GPU, or PTX: nvcc -cubin -arch=native, or nvcc -ptx.");
}

void ModuleKernel::load(penstock_lane const& lane) {
  if (lane.on_gpu == 0) {
    throw Error(ErrorKind::unsupported, "The kernel '" + name_ + "' needs a GPU, and the lane's device is " +
                                            lane.device + ": open the pipeline on cuda:0, or without a stage.");
  }
  Driver const& driver = Driver::get();
  if (!driver.is_whole())
    throw Error(ErrorKind::driver_too_old, "This driver loads no kernels of images: install driver 12.0 or newer.");
  std::scoped_lock const lock(loading_);
  if (library_ == nullptr) {
    std::array<char, 1024> log{};
    std::array<int, 2> options{jit_error_log, jit_error_log_bytes};
    std::array<void*, 2> values{log.data(), std::bit_cast<void*>(log.size())};
    int const answer =
        driver.load_library(&library_, image_.c_str(), options.data(), values.data(), 2, nullptr, nullptr, 0);
    if (answer != 0) {
      library_ = nullptr;
      refuse(answer, log[0] != '\0' ? first_line(log.data()) : driver.words(answer), lane);
    }
  }
  void* kernel = nullptr;
  void* function = nullptr;
  int answer = driver.get_kernel(&kernel, library_, name_.c_str());
  // The code is brought to this GPU now, and not by the first launch.
  if (answer == 0) answer = driver.get_function(&function, kernel);
  if (answer == not_found) {
    throw Error(ErrorKind::bad_argument,
                "The image has no kernel '" + name_ +
                    "': declare it extern \"C\", or give its mangled name (cuobjdump -symbols).");
  }
  if (answer != 0) refuse(answer, driver.words(answer), lane);
  kernel_ = kernel;
}

std::int64_t ModuleKernel::launch(penstock_device_tile const& tile, void* stream) const {
  void* input = tile.input;
  void* output = tile.output;
  std::uint64_t tag = tile.tag;
  std::uint64_t count = tile.input_bytes / shape_.element_bytes;
  auto count32 = static_cast<std::uint32_t>(count);
  std::vector<void*> places;
  places.reserve(arguments_.size());
  for (Argument const& argument : arguments_) {
    switch (argument.kind) {
      case PENSTOCK_KERNEL_INPUT:
        places.push_back(static_cast<void*>(&input));
        break;
      case PENSTOCK_KERNEL_OUTPUT:
        places.push_back(static_cast<void*>(&output));
        break;
      case PENSTOCK_KERNEL_COUNT:
        places.push_back(&count);
        break;
      case PENSTOCK_KERNEL_COUNT32:
        places.push_back(&count32);
        break;
      case PENSTOCK_KERNEL_TAG:
        places.push_back(&tag);
        break;
      default:
        places.push_back(const_cast<std::byte*>(argument.value.data()));
    }
  }
  if (count > std::numeric_limits<std::int32_t>::max() &&
      std::ranges::any_of(arguments_, [](Argument const& one) { return one.kind == PENSTOCK_KERNEL_COUNT32; })) {
    throw Error(ErrorKind::bad_argument, "The tile has " + std::to_string(count) +
                                             " elements, which a count of 32 bits does not hold: take one of 64.");
  }
  std::uint64_t const each = std::uint64_t{shape_.block} * shape_.per_thread;
  std::uint64_t const grid = shape_.grid > 0 ? shape_.grid : (count + each - 1) / each;
  if (grid > 0) {
    if (grid > std::numeric_limits<std::int32_t>::max())
      throw Error(ErrorKind::bad_argument, "The kernel '" + name_ +
                                               "' would have more blocks than a GPU takes: set "
                                               "`grid`, or more elements for each thread.");
    Driver const& driver = Driver::get();
    // As a kernel of the library: it is found for the GPU that is current.
    int const answer = driver.launch == nullptr
                           ? not_found
                           : driver.launch(kernel_, static_cast<unsigned>(grid), 1, 1, shape_.block, 1, 1,
                                           shape_.shared_bytes, stream, places.data(), nullptr);
    if (answer != 0) {
      throw Error(ErrorKind::device_refused, "The kernel '" + name_ + "' was not launched: " + driver.words(answer) +
                                                 ". Look at its arguments, block, grid and shared memory.");
    }
  }
  if (shape_.row_bytes == 0) return static_cast<std::int64_t>(tile.output_bytes);
  std::uint64_t const rows = tile.input_bytes / shape_.row_bytes;
  return static_cast<std::int64_t>(std::min<std::uint64_t>(rows * shape_.output_row_bytes, tile.output_bytes));
}

}  // namespace penstock::c

using namespace penstock;

namespace {

/// What a lane has of the kernel.
struct LaneOfKernel {
  c::ModuleKernel* kernel;
  void* stream;
};

std::int32_t make(void* user, penstock_lane const* lane, void** state) {
  auto& kernel = *static_cast<c::ModuleKernel*>(user);
  kernel.load(*lane);
  *state = new LaneOfKernel{&kernel, penstock_stream_cuda(lane->stream)};
  return 0;
}

std::int64_t run(void* state, penstock_device_tile const* tile, penstock_stream* /*stream*/) {
  auto const& lane = *static_cast<LaneOfKernel const*>(state);
  return lane.kernel->launch(*tile, lane.stream);
}

}  // namespace

penstock_status penstock_stage_of_kernel(penstock_kernel_of_module const* kernel, penstock_stage* stage) {
  return c::guarded([&] {
    auto made = std::make_unique<c::ModuleKernel>(c::sized(kernel, "kernel"));
    static_cast<void>(c::sized(stage, "stage"));
    penstock_stage functions{};
    functions.size = sizeof(functions);
    functions.make = make;
    functions.run = run;
    functions.destroy = [](void* state) { delete static_cast<LaneOfKernel*>(state); };
    functions.user = made.get();
    *stage = functions;
    static_cast<void>(made.release());
  });
}

void penstock_stage_free(penstock_stage* stage) {
  if (stage == nullptr || stage->run != run) return;
  delete static_cast<c::ModuleKernel*>(stage->user);
  std::size_t const size = stage->size;
  *stage = {};
  stage->size = size;
}
