// SPDX-License-Identifier: Apache-2.0
// Results of one device go to another, with no host thread between them: an event puts their streams in order, and
// a copy from device to device follows. Name two devices, as in cuda:0,cuda:1; unnamed they are two CPU devices.
#include <algorithm>
#include <cstdio>
#include <vector>

#include <penstock/kernels.hpp>
#include <penstock/models/devices.hpp>

using namespace penstock;

/// A device, its stream and its memory.
struct Place {
  explicit Place(Device& its) : device(its), stream(its.make_stream()), memory(its.allocate(count * sizeof(float))) {}
  DeviceSpan<float> values() const { return DeviceSpan<std::byte>(memory.bytes()).as<float>(); }
  /// Turns zeros into ones.
  void compute() {
    device.attach();
    transform(values(), 0, values(), stream);
  }
  static constexpr std::size_t count = std::size_t{1} << 20;
  Device& device;
  Stream stream;
  DeviceMemory memory;
};

int main(int count, char** arguments) try {
  Devices const devices = open_devices(count > 1 ? arguments[1] : "cpu,cpu");
  if (devices.size() < 2) return std::fprintf(stderr, "Name two devices, as in cpu,cpu.\n"), 1;
  std::vector<Place> places;
  for (Device* const device : devices.all()) {
    device->attach();
    places.emplace_back(*device);
  }
  Place& first = places[0];
  Place& second = places[1];

  std::vector<float> values(Place::count);
  first.device.attach();
  Event const computed = first.device.make_event();
  first.stream.upload(first.memory.bytes(), std::as_bytes(std::span(values)));
  first.compute();
  first.stream.record(computed);

  second.device.attach();
  second.stream.wait(computed);  // An event of the other device.
  second.stream.copy(second.memory.bytes(), first.memory.bytes());
  second.stream.download(std::as_writable_bytes(std::span(values)), second.memory.bytes());
  second.stream.synchronize();

  bool const right = std::ranges::all_of(values, [](float value) { return value > 0.999F && value < 1.001F; });
  std::printf("%zu bytes went from %s to %s; they are %s\n", first.memory.bytes().size(),
              device_name(first.device.info()).c_str(), device_name(second.device.info()).c_str(),
              right ? "right" : "wrong");
  return right ? 0 : 1;
} catch (Error const& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
