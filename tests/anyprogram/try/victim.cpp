// SPDX-License-Identifier: Apache-2.0
// victim HOW WHAT: a program that uses the stand-in for a driver, for `penstock try`.
//
// HOW it comes to the driver: asks (as the CUDA runtime does), asks-v1 (as that of CUDA 11), names (by dlsym of each
// name), next (by dlsym in what is loaded anyway), plugin (a library that is loaded does it), linked (the linker does).
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef LINKED
extern "C" {
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
int cuMemcpyHtoDAsync_v2(std::uint64_t, void const*, std::size_t, void*);
int cuMemcpyDtoHAsync_v2(void*, std::uint64_t, std::size_t, void*);
int cuStreamSynchronize(void*);
int cuStreamCreate(void**, unsigned);
int cuEventRecord(void*, void*);
int cuStreamWaitEvent(void*, void*, unsigned);
int cuInit(unsigned);
}
#endif

namespace {

struct Driver {
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
  int (*up)(std::uint64_t, void const*, std::size_t, void*);
  int (*down)(void*, std::uint64_t, std::size_t, void*);
  int (*wait)(void*);
  int (*create)(void**, unsigned);
  int (*record)(void*, void*);
  int (*wait_for)(void*, void*, unsigned);
  int (*init)(unsigned);
};

[[noreturn]] void fail(char const* what) {
  std::fprintf(stderr, "victim: %s\n", what);
  std::exit(9);
}

template <class Find>
Driver found_by(Find const& find) {
  Driver driver{};
  auto const take = [&](auto& function, char const* name, int since) {
    void* const address = find(name, since);
    if (address == nullptr) fail(name);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
  take(driver.launch, "cuLaunchKernel", 4000);
  take(driver.up, "cuMemcpyHtoDAsync", 3020);
  take(driver.down, "cuMemcpyDtoHAsync", 3020);
  take(driver.wait, "cuStreamSynchronize", 2000);
  take(driver.create, "cuStreamCreate", 2000);
  take(driver.record, "cuEventRecord", 2000);
  take(driver.wait_for, "cuStreamWaitEvent", 3020);
  take(driver.init, "cuInit", 2000);
  return driver;
}

Driver driver_by(std::string const& how, std::uint64_t flags) {
#ifdef LINKED
  if (how == "linked")
    return {cuLaunchKernel, cuMemcpyHtoDAsync_v2, cuMemcpyDtoHAsync_v2, cuStreamSynchronize,
            cuStreamCreate, cuEventRecord,        cuStreamWaitEvent,    cuInit};
#endif
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | (how == "next" ? RTLD_GLOBAL : RTLD_LOCAL));
  if (library == nullptr) fail(dlerror());
  if (how == "asks") {
    auto const ask =
        reinterpret_cast<int (*)(char const*, void**, int, std::uint64_t, int*)>(dlsym(library, "cuGetProcAddress_v2"));
    // It asks for itself, as the runtime does.
    void* again = nullptr;
    int status = 0;
    if (ask("cuGetProcAddress", &again, 12000, 0, &status) != 0 || again == nullptr) fail("cuGetProcAddress");
    auto* const ask_again = reinterpret_cast<int (*)(char const*, void**, int, std::uint64_t, int*)>(again);
    // The first interface of this name has other arguments, and no per-thread variant.
    void* first = nullptr;
    ask_again("cuMemcpyHtoDAsync", &first, 2000, 0, &status);
    if (reinterpret_cast<int (*)(unsigned, void const*, unsigned, void*)>(first)(0, nullptr, 0,
                                                                                 reinterpret_cast<void*>(2)) != 1)
      fail("another interface than was asked for");
    return found_by([&](char const* name, int since) {
      void* address = nullptr;
      // There are no per-thread entry points of versions before.
      ask_again(name, &address, flags == 0 ? since : 7000, flags, &status);
      return address;
    });
  }
  if (how == "asks-v1") {
    auto const ask =
        reinterpret_cast<int (*)(char const*, void**, int, std::uint64_t)>(dlsym(library, "cuGetProcAddress"));
    return found_by([&](char const* name, int since) {
      void* address = nullptr;
      ask(name, &address, since, flags);
      return address;
    });
  }
  return found_by([&](char const* name, int) {
    std::string whole = name;
    if (whole.find("Memcpy") != std::string::npos) whole += "_v2";
    void* const address = dlsym(how == "next" ? RTLD_DEFAULT : library, whole.c_str());
    // A name that is found leaves no error, however it was looked for.
    if (char const* const problem = dlerror()) fail(problem);
    return address;
  });
}

std::uint64_t address_of(void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

/// Threads that compute at once, in streams of their own or in the default stream.
void threads(Driver const& driver, unsigned count, unsigned microseconds, bool own) {
  std::vector<int> results(count);
  std::vector<std::thread> all;
  for (unsigned i = 0; i < count; ++i) {
    all.emplace_back([&, i] {
      void* stream = nullptr;
      if (own) driver.create(&stream, 1);
      int on_host = static_cast<int>(i) + 1, on_device = 0;
      driver.up(address_of(&on_device), &on_host, sizeof on_host, stream);
      driver.launch(nullptr, microseconds, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr);
      driver.down(&results[i], address_of(&on_device), sizeof on_device, stream);
      driver.wait(stream);
    });
  }
  int sum = 0;
  for (unsigned i = 0; i < count; ++i) {
    all[i].join();
    sum += results[i];
  }
  std::printf("%d\n", sum);
}

/// Prints by which entry point its kernels came to the driver.
void tell() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) fail("no driver");
  auto* const launches = reinterpret_cast<unsigned (*)(bool)>(dlsym(library, "stand_in_launches"));
  std::printf("legacy %u, per-thread %u\n", launches(false), launches(true));
}

/// Only the legacy stream orders what these two threads do.
[[maybe_unused]] void fence(Driver const& driver) {
  int on_host = 7, on_device = 0, result = 0;
  std::thread([&] { driver.up(address_of(&on_device), &on_host, sizeof on_host, nullptr); }).join();
  driver.down(&result, address_of(&on_device), sizeof on_device, nullptr);
  driver.wait(nullptr);
  std::printf("%d\n", result);
}

/// Copies up in the default stream and down in one that waits for it, which an event keeps in order, or nothing else.
/// The result is right in any case: the stand-in is done with large copies from the host when their calls return.
[[maybe_unused]] void pass_on(Driver const& driver, bool by_event) {
  std::vector<char> on_host(8192, 'x'), on_device(8192), result(8192);
  void* stream = nullptr;
  driver.create(&stream, 0);
  driver.up(address_of(on_device.data()), on_host.data(), on_host.size(), nullptr);
  if (by_event) {
    driver.record(&stream, nullptr);
    driver.wait_for(stream, &stream, 0);
  }
  driver.down(result.data(), address_of(on_device.data()), on_device.size(), stream);
  driver.wait(stream);
  std::printf("%c\n", result.back());
}

[[maybe_unused]] int child(char* self, char const* how) {
  pid_t const process = fork();
  if (process == 0) {
    execl(self, self, how, "tells", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  waitpid(process, &status, 0);
  return WEXITSTATUS(status);
}

}  // namespace

#ifdef PLUGIN
/// Does as libraries that stand before others do: the system must see that it is this one that asks for the next.
extern "C" __attribute__((visibility("default"))) pid_t getppid() {
  static auto* const next = reinterpret_cast<pid_t (*)()>(dlsym(RTLD_NEXT, "getppid"));
  return next();
}

extern "C" __attribute__((visibility("default"))) void run_plugin() {
  Driver const driver = driver_by("asks", 0);
  driver.init(0);
  threads(driver, 8, 1'000, false);
  tell();
}
#else
int main(int count, char** arguments) {
  if (count < 3) fail("victim HOW WHAT");
  std::string const how = arguments[1], what = arguments[2];
  if (getppid() <= 0 || what == "nothing") return 0;
  if (what == "child") return child(arguments[0], arguments[1]);
  if (how == "plugin") {
    void* const plugin = dlopen(arguments[2], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) fail(dlerror());
    reinterpret_cast<void (*)()>(dlsym(plugin, "run_plugin"))();
    return 0;
  }
  Driver const driver = driver_by(how, what == "per-thread" ? 2 : 0);
  driver.init(0);
  if (what == "gives-up") return 3;
  if (what == "idle") return 0;
  if (what == "fence") {
    fence(driver);
  } else if (what == "lucky" || what == "event") {
    pass_on(driver, what == "event");
  } else if (what == "own") {
    threads(driver, 8, 1'000, true);
  } else if (what == "file") {
    threads(driver, 8, 1'000, false);
    if (std::FILE* const file = std::fopen(arguments[3], "w")) {
      std::fputs("result\n", file);
      std::fclose(file);
    }
  } else {
    threads(driver, 8, 1'000, false);
  }
  if (what == "tells") tell();
  if (what == "strays") std::printf("%d\n", getpid());
  if (what == "crashes") std::abort();
  bool const is_watched = std::getenv("CUDA_INJECTION64_PATH") != nullptr;
  if (what == "fails-watched" && is_watched) return 3;
  if (what == "hangs" || (what == "hangs-watched" && is_watched)) {
    for (;;) pause();
  }
  if (what == "calls" && count > 3) {
    for (long i = std::atol(arguments[3]); i > 0; --i) driver.wait(reinterpret_cast<void*>(2));
  }
  return what == "fails" ? 3 : 0;
}
#endif
