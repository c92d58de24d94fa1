/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that threads of the library copy, so that those of Python need not hand the GIL on for each. */
#include "core.h"

enum { some_handles = 64 };

/* `handles` of them, each a Py_buffer of this file. */
static void let_go(void** handles, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    PyBuffer_Release(handles[i]);
    free(handles[i]);
  }
}

void core_take_back(Pipeline* self, int all) {
  void* handles[some_handles];
  size_t count = 0;
  while (self->lends && (count = penstock_take_back(self->pipeline, handles, some_handles)) > 0) {
    let_go(handles, count);
    if (!all) return;
  }
}

void core_end_lending(Pipeline* self) {
  if (!self->lends) return;
  penstock_report* report = NULL;
  PyThreadState* const thread = PyEval_SaveThread();
  penstock_stop(self->pipeline);
  // The program let go of the pipeline, so it does not ask how the run went.
  if (penstock_drain(self->pipeline, &report) == PENSTOCK_OK) (void)penstock_report_ok(report);
  penstock_report_destroy(report);
  PyEval_RestoreThread(thread);
  core_take_back(self, 1);
}

PyObject* core_begin_lent(Pipeline* self, PyObject* stage) {
  penstock_stage const* runs = NULL;
  if (core_is_forked(self) || core_stage_of(self, stage, &runs) < 0) return NULL;
  PyThreadState* const thread = PyEval_SaveThread();
  penstock_status const status = penstock_begin_lent(self->pipeline, 0, runs);
  PyEval_RestoreThread(thread);
  if (status != PENSTOCK_OK) return core_raise(core_state_of((PyObject*)self), status);
  core_keep_stage(self, stage);
  self->lends = 1;
  Py_RETURN_NONE;
}

/* Lends until the limit. 1: done; 0, with or without an exception: not, and then `status` may say why. */
static int try_to_lend(Pipeline* self, Py_buffer* buffer, uint64_t tag, int64_t limit, penstock_status* status) {
  int32_t lent = 0;
  size_t const bytes = (size_t)buffer->len;
  *status = penstock_lend(self->pipeline, buffer->buf, bytes, tag, buffer, 0, &lent);
  if (*status != PENSTOCK_OK || lent) return lent;
  int64_t const since = core_now(), end = limit < 0 ? -1 : since + limit;
  int told = 0;
  while (*status == PENSTOCK_OK && !lent) {
    if (end >= 0 && core_now() >= end) return 0;
    if (core_between(self, since, 1, &told) < 0) return 0;
    PyThreadState* const thread = PyEval_SaveThread();
    *status = penstock_lend(self->pipeline, buffer->buf, bytes, tag, buffer, core_next_slice(end), &lent);
    PyEval_RestoreThread(thread);
  }
  return lent;
}

/* Lends one buffer. -1 with an exception. */
static int lend_one(Pipeline* self, PyObject* given, uint64_t tag, int64_t limit) {
  Py_buffer* const buffer = calloc(1, sizeof *buffer);
  if (buffer == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  if (PyObject_GetBuffer(given, buffer, PyBUF_SIMPLE) < 0) {
    free(buffer);
    return -1;
  }
  penstock_status status;
  if (try_to_lend(self, buffer, tag, limit, &status)) return 0;
  PyBuffer_Release(buffer);
  free(buffer);
  if (PyErr_Occurred()) return -1;
  if (status != PENSTOCK_OK) {
    core_raise(core_state_of((PyObject*)self), status);
  } else {
    PyErr_SetString(PyExc_TimeoutError,
                    "No tile came home in time: the device or the loop that takes tiles is slower.");
  }
  return -1;
}

PyObject* core_lend(Pipeline* self, PyObject* arguments) {
  PyObject *given = NULL, *numbers = NULL, *timeout = NULL;
  if (!PyArg_ParseTuple(arguments, "OOO", &given, &numbers, &timeout)) return NULL;
  int64_t const limit = core_limit_of(timeout);
  if (limit == -2 || core_is_forked(self)) return NULL;
  uint64_t* tags = NULL;
  PyObject* const all = core_buffers_of(given, numbers, &tags);
  if (all == NULL) return NULL;
  int bad = 0;
  Py_ssize_t const count = PySequence_Size(all);
  for (Py_ssize_t i = 0; !bad && i < count; ++i) {
    if (i % some_handles == 0) core_take_back(self, 0);
    PyObject* const one = PySequence_GetItem(all, i);
    bad = one == NULL || lend_one(self, one, tags[i], limit) < 0;
    Py_XDECREF(one);
  }
  free(tags);
  Py_DECREF(all);
  if (bad) return NULL;
  Py_RETURN_NONE;
}
