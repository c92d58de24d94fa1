// SPDX-License-Identifier: Apache-2.0
#include "penstock/cuda/capture.hpp"

namespace penstock::cuda {
inline namespace PENSTOCK_FLAVOUR {

CudaCapture::CudaCapture(Health& health, cudaGraph_t graph) : health_(health) {
  health_.check(cudaGraphGetNodes(graph, nullptr, &operations_), "cudaGraphGetNodes");
  if (operations_ == 0) return;
  health_.check(cudaGraphInstantiateWithFlags(&handle_, graph, 0), "cudaGraphInstantiateWithFlags");
}

CudaCapture::~CudaCapture() {
  if (handle_ != nullptr && !health_.abandoned()) health_.report(cudaGraphExecDestroy(handle_), "cudaGraphExecDestroy");
}

CudaCapture& CudaCapture::of(CaptureBackend& backend) {
  auto* const capture = dynamic_cast<CudaCapture*>(&backend);
  if (capture == nullptr) {
    throw Error(ErrorKind::bad_argument,
                "A CUDA stream was given the capture of another kind of device: capture it with a stream of this one.");
  }
  return *capture;
}

void CudaCapture::upload(cudaStream_t stream) {
  if (handle_ != nullptr) health_.check(cudaGraphUpload(handle_, stream), "cudaGraphUpload");
}

void CudaCapture::launch(cudaStream_t stream) {
  if (handle_ != nullptr) health_.check(cudaGraphLaunch(handle_, stream), "cudaGraphLaunch");
}

}  // namespace PENSTOCK_FLAVOUR
}  // namespace penstock::cuda
