// SPDX-License-Identifier: Apache-2.0
// Programs for the stand-in of the driver, which know nothing of penstock: `watched CASE`.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <sys/resource.h>
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

/// So many tiles, in one stream.
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
  if (what == "short-files") {
    rlimit const bytes{100'000, 100'000};
    setrlimit(RLIMIT_FSIZE, &bytes);
  } else if (what == "no-folder") {
    // That of all logs, with the one above.
    std::string const folder = std::getenv("PENSTOCK_WATCH");
    std::string const above = folder.substr(0, folder.rfind('/'));
    std::rename(above.c_str(), (above + "-gone").c_str());
  }
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
