/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles as DLPack tensors: https://dmlc.github.io/dlpack. The structures are those of its versions 0.8 and 1.0. */
#include "core.h"

typedef struct DLTensor {
  void* data;
  struct {
    int32_t device_type, device_id;
  } device;
  int32_t ndim;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

enum { dl_cpu = 1, dl_int = 0, dl_uint = 1, dl_float = 2, dl_complex = 5 };

/* A consumer may let go of a tensor on any thread, with or without the GIL. */
static void let_go(void* tile) {
  PyGILState_STATE const state = PyGILState_Ensure();
  --((Tile*)tile)->views;
  Py_DECREF((PyObject*)tile);
  PyGILState_Release(state);
}
static void delete_old(DLManagedTensor* self) {
  let_go(self->manager_ctx);
  free(self);
}
static void delete_versioned(DLManagedTensorVersioned* self) {
  let_go(self->manager_ctx);
  free(self);
}

/* A capsule that nobody took still owns its tensor. */
static void destroy_old(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor")) delete_old(PyCapsule_GetPointer(capsule, "dltensor"));
}
static void destroy_versioned(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
    delete_versioned(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
}

static int describe(Tile* self, DLTensor* tensor) {
  if (self->tile == NULL) {
    PyErr_SetString(PyExc_BufferError, "The tile is home again, or was submitted: make the tensor before that.");
    return -1;
  }
  Elements const* elements = NULL;
  penstock_bytes const bytes = core_bytes_of(self, &elements);
  int64_t each = elements->size;
  for (int i = 0; i < elements->rest_count; ++i) each *= elements->rest[i];
  if (bytes.size % (size_t)each != 0) {
    PyErr_Format(PyExc_BufferError, "The tile has %zu bytes, which are no whole elements of %lld.", bytes.size,
                 (long long)each);
    return -1;
  }
  self->long_shape[0] = (int64_t)(bytes.size / (size_t)each);
  for (int i = 0; i < elements->rest_count; ++i) self->long_shape[i + 1] = elements->rest[i];
  char const kind = elements->format[0] != 'Z' ? elements->format[0] : 'Z';
  tensor->data = bytes.data;
  tensor->device.device_type = dl_cpu;
  tensor->ndim = 1 + elements->rest_count;
  tensor->dtype.code = (uint8_t)(kind == 'Z'                                                               ? dl_complex
                                 : kind == 'e' || kind == 'f' || kind == 'd'                               ? dl_float
                                 : kind == 'b' || kind == 'h' || kind == 'i' || kind == 'l' || kind == 'q' ? dl_int
                                                                                                           : dl_uint);
  tensor->dtype.bits = (uint8_t)(8 * elements->size);
  tensor->dtype.lanes = 1;
  tensor->shape = self->long_shape;
  tensor->strides = NULL;
  tensor->byte_offset = 0;
  return 0;
}

PyObject* core_dlpack_device(Tile* self, PyObject* unused) {
  (void)self, (void)unused;
  return Py_BuildValue("(ii)", dl_cpu, 0);
}

/* True, with an exception, if the consumer asks for what a tile on the host cannot be. */
static int is_refused(PyObject* stream, PyObject* device, PyObject* copy) {
  if (stream != NULL && !Py_IsNone(stream)) {
    PyErr_SetString(PyExc_BufferError, "The tile is in memory of the host, which has no streams: pass stream=None.");
    return 1;
  }
  if (device != NULL && !Py_IsNone(device)) {
    int type = 0, number = 0;
    if (!PyArg_ParseTuple(device, "ii", &type, &number)) return 1;
    if (type != dl_cpu) {
      PyErr_SetString(PyExc_BufferError, "The tile is in memory of the host: take it from there, and copy it.");
      return 1;
    }
  }
  if (copy == NULL || Py_IsNone(copy)) return 0;
  int const wanted = PyObject_IsTrue(copy);
  if (wanted > 0) PyErr_SetString(PyExc_BufferError, "A tile hands its own bytes out: copy what you get.");
  return wanted != 0;
}

PyObject* core_dlpack(Tile* self, PyObject* arguments, PyObject* names) {
  static char* keywords[] = {"stream", "max_version", "dl_device", "copy", NULL};
  PyObject *stream = NULL, *version = NULL, *device = NULL, *copy = NULL;
  if (!PyArg_ParseTupleAndKeywords(arguments, names, "|$OOOO", keywords, &stream, &version, &device, &copy))
    return NULL;
  if (core_is_forked(self->home) || is_refused(stream, device, copy)) return NULL;
  int major = 0, minor = 0;
  if (version != NULL && !Py_IsNone(version) && !PyArg_ParseTuple(version, "ii", &major, &minor)) return NULL;
  PyObject* capsule = NULL;
  if (major >= 1) {
    DLManagedTensorVersioned* const made = calloc(1, sizeof *made);
    if (made == NULL) return PyErr_NoMemory();
    made->version.major = 1;
    made->manager_ctx = self;
    made->deleter = delete_versioned;
    if (describe(self, &made->dl_tensor) == 0) capsule = PyCapsule_New(made, "dltensor_versioned", destroy_versioned);
    if (capsule == NULL) free(made);
  } else {
    DLManagedTensor* const made = calloc(1, sizeof *made);
    if (made == NULL) return PyErr_NoMemory();
    made->manager_ctx = self;
    made->deleter = delete_old;
    if (describe(self, &made->dl_tensor) == 0) capsule = PyCapsule_New(made, "dltensor", destroy_old);
    if (capsule == NULL) free(made);
  }
  if (capsule == NULL) return NULL;
  Py_INCREF((PyObject*)self);
  ++self->views;
  return capsule;
}
