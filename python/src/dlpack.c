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

enum { dl_cpu = 1, dl_cuda = 2, dl_int = 0, dl_uint = 1, dl_float = 2, dl_complex = 5, dl_bool = 6 };

/* A tensor with its shape and strides in one piece of memory. */
typedef struct Parts {
  PyObject* owner;
  Tile* viewed; /* The tile that counts views, or null. */
  int64_t shape[most_dimensions + 1];
  int64_t strides[most_dimensions + 1];
} Parts;
typedef struct OldTensor {
  DLManagedTensor managed;
  Parts parts;
} OldTensor;
typedef struct VersionedTensor {
  DLManagedTensorVersioned managed;
  Parts parts;
} VersionedTensor;

/* A consumer may let go of a tensor on any thread, with or without the GIL. */
static void let_go(Parts const* parts) {
  // Without an interpreter there is nothing to give back to: the memory stays.
  if (!Py_IsInitialized()) return;
  PyGILState_STATE const state = PyGILState_Ensure();
  if (parts->viewed != NULL) --parts->viewed->views;
  Py_DECREF(parts->owner);
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

static void describe(View const* view, Parts* parts, DLTensor* tensor, int is_versioned) {
  Elements const* const elements = view->elements;
  parts->owner = view->owner;
  parts->viewed = view->owner == (PyObject*)view->first ? view->first : NULL;
  for (int i = 0; i < view->dimensions; ++i) {
    parts->shape[i] = view->shape[i];
    parts->strides[i] = view->strides[i] / elements->size;
  }
  char const kind = elements->format[0];
  tensor->data = view->data;
  tensor->device.device_type = core_is_on_gpu(view->first) ? dl_cuda : dl_cpu;
  tensor->device.device_id = core_is_on_gpu(view->first) ? view->first->result.ordinal : 0;
  tensor->ndim = view->dimensions;
  tensor->dtype.code = (uint8_t)(kind == 'Z'                     ? dl_complex
                                 : strchr("efd", kind) != NULL   ? dl_float
                                 : strchr("bhilq", kind) != NULL ? dl_int
                                 : kind == '?' && is_versioned   ? dl_bool
                                                                 : dl_uint);
  tensor->dtype.bits = (uint8_t)(8 * elements->size);
  tensor->dtype.lanes = 1;
  tensor->shape = parts->shape;
  tensor->strides = parts->strides;
  tensor->byte_offset = 0;
}

PyObject* core_dlpack_device(Tile const* self) {
  return core_is_on_gpu(self) ? Py_BuildValue("(ii)", dl_cuda, (int)self->result.ordinal)
                              : Py_BuildValue("(ii)", dl_cpu, 0);
}

static int read_pair(PyObject* given, char const* name, int* first, int* second) {
  if (PyTuple_Check(given)) return PyArg_ParseTuple(given, "ii", first, second);
  PyErr_Format(PyExc_TypeError, "%s is a tuple of two numbers.", name);
  return 0;
}

/* True, with an exception, if the consumer asks for what the tile cannot be. */
static int is_refused(Tile const* self, PyObject* stream, PyObject* device, PyObject* copy) {
  int const on_gpu = core_is_on_gpu(self);
  if (!on_gpu && stream != NULL && !Py_IsNone(stream)) {
    PyErr_SetString(PyExc_BufferError, "The tile is in memory of the host, which has no streams: pass stream=None.");
    return 1;
  }
  if (device != NULL && !Py_IsNone(device)) {
    int type = 0, number = 0;
    if (!read_pair(device, "dl_device", &type, &number)) return 1;
    if (type != (on_gpu ? dl_cuda : dl_cpu) || (on_gpu && number != self->result.ordinal)) {
      if (on_gpu) {
        PyErr_Format(PyExc_BufferError, "The tile is on the GPU cuda:%d: take it from there, and copy it.",
                     (int)self->result.ordinal);
      } else {
        PyErr_SetString(PyExc_BufferError, "The tile is in memory of the host: take it from there, and copy it.");
      }
      return 1;
    }
  }
  if (copy == NULL || Py_IsNone(copy)) return 0;
  int const wanted = PyObject_IsTrue(copy);
  if (wanted > 0) PyErr_SetString(PyExc_BufferError, "A tile hands its own bytes out: copy what you get.");
  return wanted != 0;
}

PyObject* core_dlpack(View const* view, PyObject* arguments, PyObject* names) {
  static char* keywords[] = {"stream", "max_version", "dl_device", "copy", NULL};
  Tile* const first = view->first;
  PyObject *stream = NULL, *version = NULL, *device = NULL, *copy = NULL;
  if (!PyArg_ParseTupleAndKeywords(arguments, names, "|$OOOO", keywords, &stream, &version, &device, &copy))
    return NULL;
  if (core_is_forked(first->home) || is_refused(first, stream, device, copy)) return NULL;
  // The device has finished the tile, so no stream needs to wait. What the stream then does with it, its way home does.
  if (core_is_on_gpu(first)) {
    uintptr_t const user = core_stream_of(stream);
    if (user == 0 || core_note_stream(view->streams, user) < 0) return NULL;
  }
  int major = 0, minor = 0;
  if (version != NULL && !Py_IsNone(version) && !read_pair(version, "max_version", &major, &minor)) return NULL;
  PyObject* capsule = NULL;
  if (major >= 1) {
    VersionedTensor* const made = calloc(1, sizeof *made);
    if (made == NULL) return PyErr_NoMemory();
    made->managed.version.major = 1;
    made->managed.manager_ctx = &made->parts;
    made->managed.deleter = delete_versioned;
    describe(view, &made->parts, &made->managed.dl_tensor, 1);
    capsule = PyCapsule_New(&made->managed, "dltensor_versioned", destroy_versioned);
    if (capsule == NULL) free(made);
  } else {
    OldTensor* const made = calloc(1, sizeof *made);
    if (made == NULL) return PyErr_NoMemory();
    made->managed.manager_ctx = &made->parts;
    made->managed.deleter = delete_old;
    describe(view, &made->parts, &made->managed.dl_tensor, 0);
    capsule = PyCapsule_New(&made->managed, "dltensor", destroy_old);
    if (capsule == NULL) free(made);
  }
  if (capsule == NULL) return NULL;
  Py_INCREF(view->owner);
  if (view->owner == (PyObject*)first) ++first->views;
  return capsule;
}
