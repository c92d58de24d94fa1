// SPDX-License-Identifier: Apache-2.0
#include "penstock/flow/consumers.hpp"

#include <exception>

namespace penstock {

Consumers::Consumers(oneapi::tbb::task_arena& arena, std::size_t count, CpuSet const& cpus) {
  try {
    threads_.reserve(count);
    while (threads_.size() < count) {
      Post& post = posts_.emplace_back();
      auto inside = post.entered.get_future();
      threads_.emplace_back("ps-graph", cpus, [&arena, &post](std::stop_token const&) {
        bool there = false;
        try {
          arena.execute([&] {
            there = true;
            post.entered.set_value();
            post.group.wait();
          });
        } catch (...) {
          if (!there) post.entered.set_exception(std::current_exception());
        }
      });
      inside.get();
    }
  } catch (...) {
    end();
    throw;
  }
}

Consumers::~Consumers() {
  end();
}

void Consumers::end() noexcept {
  for (Post& post : posts_) post.held = {};
  threads_.clear();
}

std::vector<std::string> Consumers::remarks() const {
  std::vector<std::string> all;
  for (auto const& thread : threads_) {
    if (thread.binding_error()) all.push_back(*thread.binding_error());
  }
  return all;
}

}  // namespace penstock
