/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"
#include <structmember.h>

PyObject* core_new_tile(Pipeline* home, penstock_tile* tile, penstock_completion const* completion) {
  PyTypeObject* const type = core_state_of((PyObject*)home)->tile_type;
  allocfunc const allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Tile* const self = (Tile*)allocate(type, 0);
  if (self == NULL) {
    penstock_tile_give_back(tile);
    return NULL;
  }
  Py_INCREF((PyObject*)home);
  self->home = home;
  self->tile = tile;
  ++home->held;
  self->borrowed = completion == NULL;
  self->tag = penstock_tile_tag(tile);
  if (completion == NULL) return (PyObject*)self;
  self->completion = *completion;
  self->index = penstock_tile_sequence(tile);
  if (home->on_device) {
    self->result.size = sizeof self->result;
    if (penstock_tile_on_device(home->pipeline, tile, &self->result) != PENSTOCK_OK) self->result.size = 0;
  }
  if (home->paths != NULL) {
    penstock_place place = {.size = sizeof place};
    if (penstock_tile_place(home->pipeline, tile, &place) == PENSTOCK_OK) {
      self->file = place.file;
      self->offset = place.offset;
    }
  }
  return (PyObject*)self;
}

static PyObject* gone(void) {
  PyErr_SetString(
      PyExc_ValueError,
      "The tile is home again, or was submitted: copy what you need before release() or the end of `with`.");
  return NULL;
}

static penstock_tile* held(Tile* self) {
  penstock_tile* const tile = self->tile;
  if (tile == NULL) gone();
  return core_is_forked(self->home) ? NULL : tile;
}

penstock_bytes core_bytes_of(Tile* self, Elements const** elements) {
  int const output = !self->borrowed && self->home->has_output;
  if (self->result.size != 0) {
    *elements = output ? &self->home->output : &self->home->input;
    penstock_bytes const on_device = {self->result.data, self->result.bytes};
    return on_device;
  }
  *elements = output ? &self->home->output : &self->home->input;
  penstock_bytes bytes = output ? penstock_tile_output(self->tile) : penstock_tile_input(self->tile, 0);
  if (self->borrowed) return bytes;
  if (self->completion.outcome != PENSTOCK_DONE) {
    bytes.size = 0;
  } else {
    bytes.size = output ? penstock_tile_produced(self->tile) : penstock_tile_filled(self->tile, 0);
  }
  return bytes;
}

int core_is_on_gpu(Tile const* self) {
  return self->result.size != 0 && self->result.on_gpu;
}

penstock_tile* core_leave_tile(Tile* self, char const* what) {
  if (held(self) == NULL) return NULL;
  if (self->is_exposed) {
    PyErr_Format(
        PyExc_BufferError,
        "The tile cannot %s: its address was handed out by __cuda_array_interface__, and may be in use. Let go "
        "of the tile (del) and of what was made of it.",
        what);
    return NULL;
  }
  if (self->views != 0) {
    PyErr_Format(PyExc_BufferError,
                 "The tile cannot %s: %zd arrays or tensors still show its bytes. Let go of them (del), or copy.", what,
                 (Py_ssize_t)self->views);
    return NULL;
  }
  penstock_tile* const tile = atomic_exchange(&self->tile, NULL);
  if (tile == NULL) return (penstock_tile*)gone();
  --self->home->held;
  return tile;
}

static void destroy(Tile* self) {
  PyTypeObject* const type = Py_TYPE((PyObject*)self);
  if (self->weak_references != NULL) PyObject_ClearWeakRefs((PyObject*)self);
  penstock_tile* const tile = atomic_exchange(&self->tile, NULL);
  if (tile != NULL) {
    --self->home->held;
    if (self->home->process == (long)getpid()) {
      core_tell_streams(&self->streams, self->home, &tile, 1);
      penstock_tile_give_back(tile);
    }
  }
  Py_DECREF((PyObject*)self->home);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

PyObject* core_refuse_copy(PyObject* self, PyObject* unused) {
  (void)unused;
  (void)self;
  PyErr_SetString(
      PyExc_TypeError,
      "A tile is memory of its pipeline and goes home: copy its array, as by numpy.array(tile), and keep or "
      "send that.");
  return NULL;
}

static PyObject* release(Tile* self, PyObject* unused) {
  (void)unused;
  if (self->tile == NULL) Py_RETURN_NONE;
  penstock_tile* const tile = core_leave_tile(self, "go home");
  if (tile == NULL) return NULL;
  core_tell_streams(&self->streams, self->home, &tile, 1);
  penstock_tile_give_back(tile);
  Py_RETURN_NONE;
}

static PyObject* expect_borrowed(Tile* self) {
  if (self->borrowed) return (PyObject*)self;
  PyErr_SetString(PyExc_ValueError, "The tile is completed: only one that was borrowed is filled and submitted.");
  return NULL;
}

static PyObject* submit(Tile* self, PyObject* filled) {
  if (expect_borrowed(self) == NULL || held(self) == NULL) return NULL;
  size_t bytes = penstock_tile_input(self->tile, 0).size;
  if (!Py_IsNone(filled)) {
    Py_ssize_t const wanted = PyLong_AsSsize_t(filled);
    if (wanted < 0 || (size_t)wanted > bytes) {
      if (!PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "A tile of %zu bytes has no %zd of them to submit.", bytes, wanted);
      return NULL;
    }
    bytes = (size_t)wanted;
  }
  penstock_tile* const tile = core_leave_tile(self, "be submitted");
  if (tile == NULL) return NULL;
  penstock_tile_set_tag(tile, self->tag);
  PyThreadState* const thread = PyEval_SaveThread();
  penstock_status status = penstock_tile_set_filled(tile, 0, bytes);
  if (status == PENSTOCK_OK) status = penstock_submit(self->home->pipeline, tile);
  PyEval_RestoreThread(thread);
  if (status != PENSTOCK_OK) return core_raise(core_state_of((PyObject*)self), status);
  Py_RETURN_NONE;
}

static PyObject* submit_some(Tile* self, PyObject* arguments) {
  PyObject* filled = Py_None;
  return PyArg_ParseTuple(arguments, "|O", &filled) ? submit(self, filled) : NULL;
}

static PyObject* enter(PyObject* self, PyObject* unused) {
  (void)unused;
  return Py_NewRef(self);
}

/* A borrowed tile is submitted, or given back behind an exception. A completed one goes home. */
static PyObject* leave(Tile* self, PyObject* arguments) {
  PyObject *kind = NULL, *value = NULL, *trace = NULL;
  if (!PyArg_ParseTuple(arguments, "OOO", &kind, &value, &trace)) return NULL;
  if (self->tile == NULL) Py_RETURN_NONE;
  // Behind an exception the traceback may still show the bytes: the tile goes home with its last view.
  if (!Py_IsNone(kind) && self->views != 0) Py_RETURN_NONE;
  // So does one whose address was handed out: nobody can tell whether it is in use.
  if (self->is_exposed) Py_RETURN_NONE;
  return self->borrowed && Py_IsNone(kind) ? submit(self, Py_None) : release(self, NULL);
}

void core_refuse_on_gpu(Tile const* self) {
  PyErr_Format(
      PyExc_BufferError,
      "The bytes of the tile are on the GPU cuda:%d: take them by torch.from_dlpack or cupy.from_dlpack, and copy "
      "them from there; or open the pipeline with to='host'.",
      (int)self->result.ordinal);
}

int core_view_of(Tile* self, View* view) {
  if (held(self) == NULL) return -1;
  Elements const* elements = NULL;
  penstock_bytes const bytes = core_bytes_of(self, &elements);
  Py_ssize_t each = elements->size;
  for (int i = 0; i < elements->rest_count; ++i) each *= elements->rest[i];
  if (bytes.size % (size_t)each != 0) {
    PyErr_Format(PyExc_BufferError, "The tile has %zu bytes, which are no whole elements of %zd.", bytes.size, each);
    return -1;
  }
  // The shape is the same for all views, so they may share it.
  self->shape[0] = (Py_ssize_t)(bytes.size / (size_t)each);
  self->strides[0] = each;
  for (int i = 0; i < elements->rest_count; ++i) {
    self->shape[i + 1] = elements->rest[i];
    each /= elements->rest[i];
    self->strides[i + 1] = each;
  }
  *view = (View){.owner = (PyObject*)self,
                 .first = self,
                 .streams = &self->streams,
                 .data = bytes.data,
                 .elements = elements,
                 .dimensions = 1 + elements->rest_count,
                 .shape = self->shape,
                 .strides = self->strides};
  return 0;
}

static int get_buffer(Tile* self, Py_buffer* view, int flags) {
  view->obj = NULL;
  if (held(self) == NULL) return -1;
  if (core_is_on_gpu(self)) {
    core_refuse_on_gpu(self);
    return -1;
  }
  Elements const* elements = NULL;
  penstock_bytes const bytes = core_bytes_of(self, &elements);
  View all;
  if ((flags & PyBUF_ND) == PyBUF_ND && core_view_of(self, &all) < 0) return -1;
  if (elements->rest_count > 0 && (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS) {
    PyErr_SetString(PyExc_BufferError, "A tile has its rows one after the other, and not its columns.");
    return -1;
  }
  int const shaped = (flags & PyBUF_ND) == PyBUF_ND;
  view->obj = Py_NewRef((PyObject*)self);
  view->buf = bytes.data;
  view->len = (Py_ssize_t)bytes.size;
  view->readonly = 0;
  view->itemsize = shaped || (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? elements->size : 1;
  view->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? (char*)elements->format : NULL;
  view->ndim = shaped ? 1 + elements->rest_count : 1;
  view->shape = shaped ? self->shape : NULL;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL;
  view->suboffsets = NULL;
  view->internal = NULL;
  ++self->views;
  return 0;
}

static void release_buffer(Tile* self, Py_buffer* view) {
  (void)view;
  --self->views;
}

static PyObject* text_or_none(char const* text) {
  if (text == NULL) Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject* get_ok(Tile* self, void* unused) {
  (void)unused;
  return PyBool_FromLong(self->completion.outcome == PENSTOCK_DONE);
}
static PyObject* get_problem(Tile* self, void* unused) {
  (void)unused;
  if (self->completion.outcome == PENSTOCK_CANCELLED) return PyUnicode_FromString("The run was stopped before it.");
  if (self->completion.reason == NULL) Py_RETURN_NONE;
  return self->tile == NULL ? gone() : text_or_none(self->completion.reason);
}
static PyObject* get_failed_at(Tile* self, void* unused) {
  (void)unused;
  if (self->completion.stage == NULL) Py_RETURN_NONE;
  return self->tile == NULL ? gone() : text_or_none(self->completion.stage);
}
static PyObject* get_nbytes(Tile* self, void* unused) {
  (void)unused;
  if (held(self) == NULL) return NULL;
  Elements const* elements = NULL;
  return PyLong_FromSize_t(core_bytes_of(self, &elements).size);
}
/* The path of its file as text, as os.fsdecode makes it. */
static PyObject* get_name(Tile* self, void* unused) {
  (void)unused;
  PyObject* const paths = self->home->paths;
  if (paths == NULL || self->borrowed || self->file >= (uint64_t)PyList_Size(paths)) Py_RETURN_NONE;
  PyObject* const path = PyList_GetItem(paths, (Py_ssize_t)self->file);
  return PyUnicode_DecodeFSDefaultAndSize(PyBytes_AsString(path), PyBytes_Size(path));
}
static PyObject* get_device(Tile* self, void* unused) {
  (void)unused;
  return core_is_on_gpu(self) ? PyUnicode_FromFormat("cuda:%d", (int)self->result.ordinal)
                              : PyUnicode_FromString("cpu");
}
/* numpy asks for this where there is no buffer. */
static PyObject* array(Tile* self, PyObject* arguments, PyObject* names) {
  (void)arguments, (void)names;
  if (held(self) == NULL) return NULL;
  View view;
  if (core_is_on_gpu(self)) {
    core_refuse_on_gpu(self);
  } else if (core_view_of(self, &view) == 0) {
    PyErr_SetString(PyExc_BufferError, "The tile has no array.");
  }
  return NULL;
}
static PyObject* used_in(Tile* self, PyObject* given) {
  if (held(self) == NULL) return NULL;
  uintptr_t const stream = core_stream_of(given);
  if (stream == 0 || core_note_stream(&self->streams, stream) < 0) return NULL;
  Py_RETURN_NONE;
}
static PyObject* dlpack(Tile* self, PyObject* arguments, PyObject* names) {
  View view;
  if (self->tile == NULL) {
    PyErr_SetString(PyExc_BufferError, "The tile is home again, or was submitted: make the tensor before that.");
    return NULL;
  }
  if (core_view_of(self, &view) < 0) return NULL;
  return core_dlpack(&view, arguments, names);
}
static PyObject* dlpack_device(Tile* self, PyObject* unused) {
  (void)unused;
  return core_dlpack_device(self);
}
static PyObject* get_array(Tile* self, void* unused) {
  (void)unused;
  if (held(self) == NULL) return NULL;
  if (core_is_on_gpu(self)) {
    core_refuse_on_gpu(self);
    return NULL;
  }
  PyObject* const numpy = PyImport_ImportModule("numpy");
  if (numpy == NULL) return NULL;
  PyObject* const array = PyObject_CallMethod(numpy, "asarray", "O", (PyObject*)self);
  Py_DECREF(numpy);
  return array;
}
static PyObject* get_number(Tile* self, void* which) {
  return PyLong_FromUnsignedLongLong(*(uint64_t const*)((char const*)self + (size_t)which));
}
static PyObject* get_released(Tile* self, void* unused) {
  (void)unused;
  return PyBool_FromLong(self->tile == NULL);
}
static int set_tag(Tile* self, PyObject* value, void* unused) {
  (void)unused;
  if (value == NULL || expect_borrowed(self) == NULL) {
    if (value == NULL) PyErr_SetString(PyExc_AttributeError, "A tile always has a tag; 0 is that of one without.");
    return -1;
  }
  uint64_t const tag = PyLong_AsUnsignedLongLong(value);
  if (PyErr_Occurred()) return -1;
  self->tag = tag;
  return 0;
}

static PyObject* describe(Tile* self) {
  unsigned long long const index = self->index;
  if (self->tile == NULL) return PyUnicode_FromFormat("<penstock.Tile %llu, home again or submitted>", index);
  Elements const* elements = NULL;
  size_t const bytes = core_bytes_of(self, &elements).size;
  if (self->borrowed) return PyUnicode_FromFormat("<penstock.Tile, borrowed: %zu bytes>", bytes);
  if (self->completion.outcome != PENSTOCK_DONE) return PyUnicode_FromFormat("<penstock.Tile %llu, failed>", index);
  return PyUnicode_FromFormat("<penstock.Tile %llu: %zu bytes>", index, bytes);
}

#define METHOD(name, function, how, doc) \
  { name, (PyCFunction)(void (*)(void))function, how, doc }
static PyMethodDef methods[] = {
    METHOD("release", release, METH_NOARGS,
           "release()\n--\n\nSends the tile home now, and not with its last reference."),
    METHOD("submit", submit_some, METH_VARARGS,
           "submit(filled=None)\n--\n\nSubmits a borrowed tile, with so many bytes; None for all."),
    METHOD("__enter__", enter, METH_NOARGS, NULL),
    METHOD("__exit__", leave, METH_VARARGS, NULL),
    METHOD("__dlpack__", dlpack, METH_VARARGS | METH_KEYWORDS,
           "__dlpack__(*, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\nIts bytes as a DLPack "
           "capsule, not copied."),
    METHOD("__dlpack_device__", dlpack_device, METH_NOARGS,
           "__dlpack_device__()\n--\n\n(1, 0): memory of the host; (2, n): that of GPU n."),
    METHOD("__array__", array, METH_VARARGS | METH_KEYWORDS, NULL),
    METHOD("__reduce__", core_refuse_copy, METH_NOARGS, NULL),
    METHOD("used_in", used_in, METH_O,
           "used_in(stream)\n--\n\nSays that work of this stream uses the tile: its memory is not written again before "
           "the stream has done what is in it when the tile goes home. Streams that took it by __dlpack__ are known. A "
           "stream is a cudaStream_t as a number, or of torch, cupy or cuda.core."),
    {NULL, NULL, 0, NULL}};
#define NUMBER(name, doc) \
  { #name, (getter)get_number, NULL, doc, (void*)offsetof(Tile, name) }
static PyGetSetDef members[] = {
    {"ok", (getter)get_ok, NULL, "True if its work is done; else `problem` says what failed.", NULL},
    {"problem", (getter)get_problem, NULL, "A sentence on what failed, or None.", NULL},
    {"failed_at", (getter)get_failed_at, NULL, "The step that failed: 'source', 'upload', 'stage' ..., or None.", NULL},
    {"nbytes", (getter)get_nbytes, NULL, "Bytes of its array.", NULL},
    {"name", (getter)get_name, NULL, "The path of its file; None if the program fed it.", NULL},
    {"array", (getter)get_array, NULL, "A view of its bytes for numpy: all of a borrowed tile, else what was filled.",
     NULL},
    {"device", (getter)get_device, NULL, "Where its bytes are: 'cpu' or 'cuda:0'.", NULL},
    {"__cuda_array_interface__", (getter)core_array_interface, NULL,
     "Version 3, if it is on a GPU. The tile then goes home with its last reference only.", NULL},
    {"released", (getter)get_released, NULL, "True once it is home or submitted.", NULL},
    {"tag", (getter)get_number, (setter)set_tag, "A number of the program's own, which comes back with the tile.",
     (void*)offsetof(Tile, tag)},
    NUMBER(index, "Its place in the order of the input: 0, 1, 2 ..."),
    NUMBER(file, "Index of its file among the paths."),
    NUMBER(offset, "Offset of its first byte in the file, decoded."),
    {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef places[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(Tile, weak_references), READONLY, NULL},
                               {NULL, 0, 0, 0, NULL}};
static PyType_Slot slots[] = {
    {Py_tp_dealloc, destroy},
    {Py_tp_repr, describe},
    {Py_tp_methods, methods},
    {Py_tp_members, places},
    {Py_tp_getset, members},
    {Py_bf_getbuffer, get_buffer},
    {Py_bf_releasebuffer, release_buffer},
    {Py_tp_doc,
     "Pinned memory of a pipeline, which Python has until release().\n\nnumpy.asarray(tile) and "
     "numpy.from_dlpack(tile) do not copy. A tile that is kept is one less for the input."},
    {0, NULL}};
PyType_Spec core_tile_spec = {
    .name = "penstock._core.Tile",
    .basicsize = sizeof(Tile),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = slots};
