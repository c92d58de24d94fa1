// SPDX-License-Identifier: Apache-2.0
#include "penstock/cpu/cpu_capture.hpp"

#include <string>

namespace penstock::cpu {

void CpuCapture::spoil(char const* what) {
  Error const why(ErrorKind::device_refused, std::string("A stream that captures cannot do this: ") + what +
                                                 ". Enqueue nothing but copies and kernels until the capture ends.");
  if (!spoiled_) spoiled_ = why;
  throw Error(why);
}

void CpuCapture::expect_unspoiled() const {
  if (spoiled_) throw Error(*spoiled_);
}

CpuCapture const& CpuCapture::of(CaptureBackend& capture, Scheduler const& scheduler) {
  auto const* const mine = dynamic_cast<CpuCapture*>(&capture);
  if (mine == nullptr || &mine->scheduler_ != &scheduler) {
    throw Error(ErrorKind::bad_argument, "This was captured on another device: capture it with a stream of this one.");
  }
  return *mine;
}

}  // namespace penstock::cpu
