/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of slots that processes share: a run of what is in one, and writers. */
#include "core.h"

typedef struct Writer {
  PyObject_HEAD penstock_writer* writer;
  long process;
  penstock_bytes slot; /* That which is claimed; no data if none is. */
  _Atomic Py_ssize_t views;
  _Atomic int busy; /* A thread is in a call. */
} Writer;

PyObject* core_begin_ring(Pipeline* self, PyObject* arguments) {
  char const* path = NULL;
  unsigned int slots = 0, writers = 0;
  unsigned long long idle = 0;
  PyObject* stage = NULL;
  if (!PyArg_ParseTuple(arguments, "yIIKO", &path, &slots, &writers, &idle, &stage) || core_is_forked(self))
    return NULL;
  penstock_stage const* runs = NULL;
  if (core_stage_of(self, stage, &runs) < 0) return NULL;
  penstock_ring const ring = {.size = sizeof ring, .path = path, .slots = slots, .writers = writers, .idle = idle};
  PyThreadState* const thread = PyEval_SaveThread();
  penstock_status const status = penstock_begin_ring(self->pipeline, &ring, runs);
  PyEval_RestoreThread(thread);
  if (status != PENSTOCK_OK) return core_raise(core_state_of((PyObject*)self), status);
  core_keep_stage(self, stage);
  Py_RETURN_NONE;
}

static PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* names) {
  static char* keywords[] = {"path", NULL};
  char const* path = NULL;
  if (!PyArg_ParseTupleAndKeywords(arguments, names, "y", keywords, &path)) return NULL;
  allocfunc const allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
  Writer* const self = (Writer*)allocate(type, 0);
  if (self == NULL) return NULL;
  self->process = (long)getpid();
  PyThreadState* const thread = PyEval_SaveThread();
  penstock_status const status = penstock_writer_open(path, &self->writer);
  PyEval_RestoreThread(thread);
  if (status == PENSTOCK_OK) return (PyObject*)self;
  core_raise(PyType_GetModuleState(type), status);
  Py_DECREF((PyObject*)self);
  return NULL;
}

static void destroy(Writer* self) {
  PyTypeObject* const type = Py_TYPE((PyObject*)self);
  if (self->process == (long)getpid()) {
    PyThreadState* const thread = PyEval_SaveThread();
    penstock_writer_close(self->writer);
    PyEval_RestoreThread(thread);
  }
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
  Py_DECREF(type);
}

/* Begins a call: one thread at a time. -1, with an exception, if it cannot be. */
static int enter(Writer* self) {
  if (self->writer == NULL) {
    PyErr_SetString(PyExc_ValueError, "The writer is closed.");
    return -1;
  }
  if (self->process != (long)getpid()) {
    PyErr_SetString(PyExc_RuntimeError, "The writer is of another process: open one behind the fork.");
    return -1;
  }
  if (atomic_exchange(&self->busy, 1)) {
    PyErr_SetString(PyExc_RuntimeError,
                    "Another thread uses the writer: each thread that writes needs one of its own.");
    return -1;
  }
  return 0;
}

/* Waits for a slot. 1: it is claimed; 0: the time is over; -1 with an exception. */
static int wait_for_slot(Writer* self, int64_t limit) {
  int64_t const end = limit < 0 ? -1 : core_now() + limit;
  while (self->slot.data == NULL) {
    int64_t const slice = core_next_slice(end);
    PyThreadState* const thread = PyEval_SaveThread();
    penstock_status const status = penstock_writer_claim(self->writer, slice, &self->slot);
    PyEval_RestoreThread(thread);
    if (status != PENSTOCK_OK) {
      core_raise(core_state_of((PyObject*)self), status);
      return -1;
    }
    if (self->slot.data != NULL) break;
    if (PyErr_CheckSignals() < 0) return -1;
    if (end >= 0 && core_now() >= end) return 0;
  }
  return 1;
}

static PyObject* timed_out(void) {
  PyErr_SetString(PyExc_TimeoutError, "No slot came back in time: the reader is slower, or keeps its tiles.");
  return NULL;
}

static PyObject* claim(Writer* self, PyObject* timeout) {
  int64_t const limit = core_limit_of(timeout);
  if (limit == -2 || enter(self) < 0) return NULL;
  int const came = wait_for_slot(self, limit);
  self->busy = 0;
  return came < 0 ? NULL : came == 0 ? timed_out() : PyMemoryView_FromObject((PyObject*)self);
}

/* Passes the slot on. */
static PyObject* pass_on(Writer* self, size_t bytes, uint64_t tag) {
  penstock_status const status = penstock_writer_commit(self->writer, bytes, tag);
  if (status != PENSTOCK_OK) return core_raise(core_state_of((PyObject*)self), status);
  self->slot = (penstock_bytes){NULL, 0};
  Py_RETURN_NONE;
}

static PyObject* commit(Writer* self, PyObject* arguments) {
  Py_ssize_t bytes = 0;
  uint64_t tag = 0;
  PyObject* number = NULL;
  if (!PyArg_ParseTuple(arguments, "nO", &bytes, &number) || core_tag_of(number, &tag) < 0 || enter(self) < 0)
    return NULL;
  PyObject* result = NULL;
  if (bytes < 0) {
    PyErr_SetString(PyExc_ValueError, "A piece has 0 bytes or more.");
  } else if (self->views != 0) {
    PyErr_SetString(PyExc_BufferError,
                    "The slot is still shown: release its memoryview, and arrays of it, before commit.");
  } else {
    result = pass_on(self, (size_t)bytes, tag);
  }
  self->busy = 0;
  return result;
}

static PyObject* push_into(Writer* self, Py_buffer const* buffer, uint64_t tag, int64_t limit) {
  if (self->views != 0) {
    PyErr_SetString(PyExc_BufferError,
                    "The slot is still shown: release its memoryview, and arrays of it, before a push.");
    return NULL;
  }
  int const came = wait_for_slot(self, limit);
  if (came <= 0) return came < 0 ? NULL : timed_out();
  if ((size_t)buffer->len > self->slot.size) {
    PyErr_Format(PyExc_ValueError, "The buffer has %zd bytes, and a slot %zu: push parts of it, or make tiles larger.",
                 buffer->len, self->slot.size);
    return NULL;
  }
  PyThreadState* const thread = PyEval_SaveThread();
  memcpy(self->slot.data, buffer->buf, (size_t)buffer->len);
  PyEval_RestoreThread(thread);
  return pass_on(self, (size_t)buffer->len, tag);
}

static PyObject* push(Writer* self, PyObject* arguments) {
  Py_buffer buffer;
  uint64_t tag = 0;
  PyObject *number = NULL, *timeout = NULL;
  if (!PyArg_ParseTuple(arguments, "y*OO", &buffer, &number, &timeout)) return NULL;
  int64_t const limit = core_limit_of(timeout);
  PyObject* result = NULL;
  if (limit != -2 && core_tag_of(number, &tag) == 0 && enter(self) == 0) {
    result = push_into(self, &buffer, tag, limit);
    self->busy = 0;
  }
  PyBuffer_Release(&buffer);
  return result;
}

static PyObject* close_it(Writer* self, PyObject* unused) {
  (void)unused;
  if (self->writer == NULL) Py_RETURN_NONE;
  if (enter(self) < 0) return NULL;
  if (self->views != 0) {
    self->busy = 0;
    PyErr_SetString(PyExc_BufferError, "The slot is still shown: release its memoryview before close.");
    return NULL;
  }
  penstock_writer* const writer = self->writer;
  self->writer = NULL;
  self->slot = (penstock_bytes){NULL, 0};
  self->busy = 0;
  PyThreadState* const thread = PyEval_SaveThread();
  penstock_writer_close(writer);
  PyEval_RestoreThread(thread);
  Py_RETURN_NONE;
}

static int get_buffer(Writer* self, Py_buffer* view, int flags) {
  view->obj = NULL;
  if (self->slot.data == NULL) {
    PyErr_SetString(PyExc_BufferError, "No slot is claimed.");
    return -1;
  }
  int const got = PyBuffer_FillInfo(view, (PyObject*)self, self->slot.data, (Py_ssize_t)self->slot.size, 0, flags);
  if (got == 0) ++self->views;
  return got;
}

static void release_buffer(Writer* self, Py_buffer* view) {
  (void)view;
  --self->views;
}

#define METHOD(name, function, how, doc) \
  { name, (PyCFunction)(void (*)(void))function, how, doc }
static PyMethodDef methods[] = {
    METHOD("claim", claim, METH_O, "claim(timeout)\n--\n\nThe next slot, as a memoryview to be written."),
    METHOD("commit", commit, METH_VARARGS, "commit(bytes, tag)\n--\n\nPasses on the first bytes of the slot."),
    METHOD("push", push, METH_VARARGS,
           "push(buffer, tag, timeout)\n--\n\nCopies a buffer into a slot and passes it on."),
    METHOD("close", close_it, METH_NOARGS, "close()\n--\n\nTells the reader that no more comes."),
    {NULL, NULL, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_new, make},
                              {Py_tp_dealloc, destroy},
                              {Py_tp_methods, methods},
                              {Py_bf_getbuffer, get_buffer},
                              {Py_bf_releasebuffer, release_buffer},
                              {Py_tp_doc, "A writer of a ring. Use penstock.writer()."},
                              {0, NULL}};
PyType_Spec core_writer_spec = {.name = "penstock._core.Writer",
                                .basicsize = sizeof(Writer),
                                .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
                                .slots = slots};
