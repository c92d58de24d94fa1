// SPDX-License-Identifier: Apache-2.0
// Two processes use one device: the first computes and puts what it has into memory that both have pinned, the second
// takes it from there. Events of both put their streams in order. The hosts tell each other what they have asked for,
// and wait for the device once, at the end. Name a device, as in cuda:0; unnamed it is the CPU device.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace penstock;

constexpr std::size_t count = std::size_t{1} << 20;
constexpr std::size_t rounds = 8;
constexpr std::size_t array_bytes = count * sizeof(float);
constexpr std::size_t memory_bytes = array_bytes + 4096;  // Whole pages, with room for some results.

/// A process, its device, and the pipes to and from the other.
struct Side {
  Side(char const* name, std::byte* memory, int from, int to)
      : devices(open_devices(name)),
        device(devices.front()),
        stream(device.make_stream()),
        values(device.allocate(array_bytes)),
        pinned(device.pin({memory, memory_bytes})),
        shared(memory, array_bytes),
        results(memory + array_bytes, rounds * sizeof(float)),
        reads(from),
        writes(to) {}
  template <class Value>
  void tell(Value const& value) const {
    if (write(writes, &value, sizeof(value)) != sizeof(value)) throw Error(ErrorKind::system, "The other is gone.");
  }
  template <class Value>
  void hear(Value& value) const {
    if (read(reads, &value, sizeof(value)) != sizeof(value)) throw Error(ErrorKind::system, "The other is gone.");
  }

  Devices devices;
  Device& device;
  Stream stream;
  DeviceMemory values;
  Pinned pinned;
  std::span<std::byte> shared, results;
  int reads, writes;
};

/// Computes the numbers 1, 2, ... one after the other, each as soon as the other process has taken the one before.
int give(Side const& here) {
  Event const given = here.device.make_event({.interprocess = true});
  here.tell(given.handle());
  EventHandle handle;
  here.hear(handle);
  Event const taken = here.device.open_event(handle);

  std::vector<float> const zeros(count);
  here.stream.upload(here.values.bytes(), std::as_bytes(std::span(zeros)));
  auto const values = DeviceSpan<std::byte>(here.values.bytes()).as<float>();
  char asked = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    transform(values, 0, values, here.stream);  // Each value is one more than before.
    if (round > 0) {
      here.hear(asked);
      here.stream.wait(taken);  // The other's device has read what is there.
    }
    here.stream.download(here.shared, here.values.bytes());
    here.stream.record(given);
    here.tell(asked);
  }
  here.hear(asked);
  here.stream.synchronize();
  return 0;
}

/// Takes the arrays, and checks the last number of each.
int take(Side const& here) {
  Event const taken = here.device.make_event({.interprocess = true});
  here.tell(taken.handle());
  EventHandle handle;
  here.hear(handle);
  Event const given = here.device.open_event(handle);

  char asked = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    here.hear(asked);
    here.stream.wait(given);  // The other's device has written what is there.
    here.stream.upload(here.values.bytes(), here.shared);
    here.stream.record(taken);
    here.tell(asked);
    here.stream.download(here.results.subspan(round * sizeof(float), sizeof(float)),
                         here.values.bytes().last(sizeof(float)));
  }
  here.stream.synchronize();
  bool right = true;
  for (std::size_t round = 0; round < rounds; ++round) {
    float last = 0;
    std::memcpy(&last, here.results.data() + round * sizeof(float), sizeof(float));
    right = right && std::abs(last - static_cast<float>(round + 1)) < 0.01F;
  }
  std::printf("%zu arrays of %zu bytes went from process to process; they are %s\n", rounds, array_bytes,
              right ? "right" : "wrong");
  return right ? 0 : 1;
}

int main(int arguments, char** words) try {
  char const* const device = arguments > 1 ? words[1] : "cpu";
  int there[2], back[2];
  void* const memory = mmap(nullptr, memory_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || pipe(there) != 0 || pipe(back) != 0) return std::perror("memory and pipes"), 1;
  // This comes before a device is opened: a GPU's runtime does not live on in a child.
  pid_t const child = fork();
  if (child < 0) return std::perror("fork"), 1;
  auto* const bytes = static_cast<std::byte*>(memory);
  if (child == 0) return close(there[0]), close(back[1]), give(Side(device, bytes, back[0], there[1]));
  close(there[1]), close(back[0]);
  int const answer = take(Side(device, bytes, there[0], back[1]));
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? answer : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
