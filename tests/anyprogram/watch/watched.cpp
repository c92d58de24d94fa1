// SPDX-License-Identifier: Apache-2.0
// Programs for the stand-in of the driver, which know nothing of penstock: `watched CASE`.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

template <class Function>
Function* find(char const* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) std::exit(3);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

struct Driver {
  int (*stream_create)(void**, unsigned) = find<int(void**, unsigned)>("cuStreamCreate");
  int (*upload)(void*, void const*, std::size_t,
                void*) = find<int(void*, void const*, std::size_t, void*)>("cuMemcpyHtoDAsync_v2");
  int (*download)(void*, void const*, std::size_t) = find<int(void*, void const*, std::size_t)>("cuMemcpyDtoH_v2");
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**) =
      find<int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**)>(
          "cuLaunchKernel");
  int (*synchronize)(void*) = find<int(void*)>("cuStreamSynchronize");
  Driver() { find<int(unsigned)>("cuInit")(0); }
};

char host[65536], device[65536];

/// A CUDA_MEMCPY3D of 4096 bytes from host memory to the device.
struct CopyNode {
  std::uint64_t words[25] = {};
  explicit CopyNode(char* to) {
    auto* const bytes = reinterpret_cast<char*>(words);
    unsigned const from_kind = 1, to_kind = 2;
    std::memcpy(bytes + 32, &from_kind, sizeof from_kind);
    std::memcpy(bytes + 120, &to_kind, sizeof to_kind);
    words[5] = reinterpret_cast<std::uint64_t>(host);
    words[17] = reinterpret_cast<std::uint64_t>(to);
    words[22] = 4096;
    words[23] = words[24] = 1;
  }
};

/// Graphs in the default stream: with a child graph, with a node that is changed, and with nodes that are replaced. The
/// copies behind them are in a stream that only waits for the default stream.
void launch_graphs(Driver const& driver, void* stream) {
  auto* const make = find<int(void**, unsigned)>("cuGraphCreate");
  auto* const add = find<int(void**, void*, void* const*, std::size_t, void const*, void*)>("cuGraphAddMemcpyNode");
  auto* const add_child = find<int(void**, void*, void* const*, std::size_t, void*)>("cuGraphAddChildGraphNode");
  auto* const instantiate = find<int(void**, void*, unsigned long long)>("cuGraphInstantiateWithFlags");
  auto* const launch = find<int(void*, void*)>("cuGraphLaunch");
  char *const in_child = device, *const changed = device + 8192, *const replaced = device + 16384,
              *const before = device + 32768;
  CopyNode const copies[] = {CopyNode(in_child), CopyNode(changed), CopyNode(replaced), CopyNode(before)};
  void *child = nullptr, *parent = nullptr, *other = nullptr, *old = nullptr, *node = nullptr, *executable = nullptr;
  for (void** const graph : {&child, &parent, &other, &old}) make(graph, 0);
  add(&node, child, nullptr, 0, &copies[0], nullptr);
  add_child(&node, parent, nullptr, 0, child);
  instantiate(&executable, parent, 0);
  launch(executable, nullptr);
  add(&node, other, nullptr, 0, &copies[2], nullptr);
  add(&node, old, nullptr, 0, &copies[3], nullptr);
  instantiate(&executable, old, 0);
  find<int(void*, void*, void const*, void*)>("cuGraphExecMemcpyNodeSetParams")(executable, node, &copies[1], nullptr);
  launch(executable, nullptr);
  find<int(void*, void*, void*)>("cuGraphExecUpdate_v2")(executable, other, nullptr);
  launch(executable, nullptr);
  for (char* const to : {in_child, changed, replaced, before}) driver.upload(to, host + 32768, 100, stream);
}

/// Works on so many tiles, in one stream.
void work(Driver const& driver, unsigned tiles, void* stream = nullptr) {
  for (unsigned i = 0; i < tiles; ++i) {
    driver.upload(device, host, sizeof host, stream);
    driver.launch(nullptr, 20, 1, 1, 256, 1, 1, 0, stream, nullptr, nullptr);
    driver.synchronize(stream);
    driver.download(host, device, sizeof host);
  }
}

}  // namespace

int main(int, char** arguments) {
  std::string const what = arguments[1];
  if (what == "nothing") return 0;
  if (what == "short-files") {
    rlimit const bytes{100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &bytes);
  } else if (what == "no-folder") {
    // Moves the folder of all logs away, with the one above.
    std::string const folder = std::getenv("PENSTOCK_WATCH");
    std::string const above = folder.substr(0, folder.rfind('/'));
    std::rename(above.c_str(), (above + "-gone").c_str());
  }
  Driver const driver;
  if (what == "serial" || what == "short-files" || what == "no-folder") {
    work(driver, 20);
  } else if (what == "threads") {
    for (int round = 0; round < 50; ++round) {
      std::vector<std::thread> threads;
      for (int i = 0; i < 4; ++i) threads.emplace_back([&] { work(driver, 1); });
      for (std::thread& thread : threads) thread.join();
    }
  } else if (what == "hazard") {
    void* stream = nullptr;
    driver.stream_create(&stream, 0);
    driver.upload(device, host, sizeof host, nullptr);
    driver.upload(device, host, 100, stream);
  } else if (what == "graphs") {
    void* stream = nullptr;
    driver.stream_create(&stream, 0);
    launch_graphs(driver, stream);
  } else if (what == "capture") {
    auto* const begin = find<int(void*, int)>("cuStreamBeginCapture_v2");
    auto* const end = find<int(void*, void**)>("cuStreamEndCapture");
    auto* const destroy = find<int(void*)>("cuStreamDestroy_v2");
    void *stream = nullptr, *other = nullptr, *graph = nullptr;
    driver.stream_create(&stream, 0);
    driver.stream_create(&other, 0);
    begin(stream, 0);
    driver.upload(device, host, sizeof host, stream);
    destroy(other);
    end(stream, &graph);
    driver.upload(device, host, sizeof host, nullptr);
  } else if (what == "crash") {
    work(driver, 200);
    raise(SIGSEGV);
  } else if (what == "exit") {
    work(driver, 200);
    _exit(7);
  } else if (what == "hang") {
    work(driver, 200);
    std::puts("ready");
    std::fflush(stdout);
    for (;;) pause();
  } else if (what == "closed") {
    for (int i = 0; i < 1024; ++i) close(i);
    work(driver, 20);
  } else if (what == "print") {
    work(driver, 2);
    std::vector<char> const text(std::size_t{1} << 20, 'x');
    for (int i = 0; i < 64; ++i) std::fwrite(text.data(), 1, text.size(), stdout);
  } else if (what == "long") {
    work(driver, 2000);
  } else if (what == "damaged") {
    work(driver, 2);
    std::string const folder = std::getenv("PENSTOCK_WATCH");
    if (std::FILE* const file = std::fopen((folder + "/1.watch").c_str(), "w")) std::fclose(file);
  } else if (what == "fork" || what == "half") {
    work(driver, 2);
    if (fork() == 0) {
      work(driver, 2);
      execl("/proc/self/exe", arguments[0], what == "half" ? "short-files" : "serial", static_cast<char*>(nullptr));
    }
    wait(nullptr);
  }
  return 0;
}
