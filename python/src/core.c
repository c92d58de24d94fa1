/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

CoreState* core_state_of(PyObject* object) {
  return PyType_GetModuleState(Py_TYPE(object));
}

PyObject* core_raise(CoreState* state, penstock_status status) {
  char const* const sentence = penstock_last_error();
  int const known = status > 0 && status < statuses;
  // It may have a path, which is no text of a certain encoding.
  PyObject* const text = PyUnicode_DecodeUTF8(sentence, (Py_ssize_t)strlen(sentence), "replace");
  if (text != NULL) PyErr_SetObject(state->errors[known ? status : 0], text);
  Py_XDECREF(text);
  return NULL;
}

int core_is_forked(Pipeline const* pipeline) {
  if (pipeline->process == (long)getpid()) return 0;
  PyErr_SetString(PyExc_RuntimeError,
                  "This pipeline was made before a fork, and its threads are in the other process: open it behind the "
                  "fork, or start processes by the method \"spawn\".");
  return 1;
}

static PyObject* owned_text(PyObject* module, penstock_status status, char* text) {
  if (status != PENSTOCK_OK) return core_raise(PyModule_GetState(module), status);
  PyObject* const all = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  penstock_free_text(text);
  return all;
}

static PyObject* describe_devices(PyObject* module, PyObject* names) {
  char const* const text = PyUnicode_AsUTF8AndSize(names, NULL);
  if (text == NULL) return NULL;
  penstock_devices* devices = NULL;
  char* json = NULL;
  penstock_status status;
  PyThreadState* const thread = PyEval_SaveThread();
  status = penstock_devices_open(text, &devices);
  if (status == PENSTOCK_OK) status = penstock_devices_json(devices, &json);
  PyEval_RestoreThread(thread);
  PyObject* const all = owned_text(module, status, json);
  PyThreadState* const closing = PyEval_SaveThread();
  penstock_devices_close(devices);
  PyEval_RestoreThread(closing);
  return all;
}

static PyObject* version(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  uint32_t const all = penstock_version();
  return PyUnicode_FromFormat("%u.%u.%u", all / 10000, all / 100 % 100, all % 100);
}

/* A class of exception, which also is one of Python's own. */
static PyObject* make_error(PyObject* module, char const* name, char const* doc, PyObject* base, PyObject* also) {
  PyObject* const bases = also != NULL ? PyTuple_Pack(2, base, also) : PyTuple_Pack(1, base);
  if (bases == NULL) return NULL;
  char full[64];
  PyOS_snprintf(full, sizeof full, "penstock.%s", name);
  PyObject* made = PyErr_NewExceptionWithDoc(full, doc, bases, NULL);
  Py_DECREF(bases);
  if (made != NULL && PyModule_AddObjectRef(module, name, made) < 0) Py_CLEAR(made);
  return made;
}

static int set_error(CoreState* state, PyObject* error, int const* which) {
  if (error == NULL) return -1;
  for (; *which >= 0; ++which) state->errors[*which] = Py_NewRef(error);
  Py_DECREF(error);
  return 0;
}

static int add_errors(PyObject* module, CoreState* state) {
  PyObject* const base = make_error(module, "Error", "Something that penstock could not do; the text says what helps.",
                                    PyExc_Exception, NULL);
  if (base == NULL) return -1;
  int const plain[] = {PENSTOCK_OK, PENSTOCK_UNSUPPORTED, PENSTOCK_FAILED, -1};
  int const argument[] = {PENSTOCK_BAD_ARGUMENT, -1};
  int const device[] = {PENSTOCK_NO_DRIVER,      PENSTOCK_DRIVER_TOO_OLD, PENSTOCK_NO_DEVICE,
                        PENSTOCK_DEVICE_REFUSED, PENSTOCK_DEVICE_LOST,    -1};
  int const memory[] = {PENSTOCK_OUT_OF_DEVICE_MEMORY, PENSTOCK_OUT_OF_PINNED_MEMORY, PENSTOCK_OUT_OF_MEMORY, -1};
  int const system[] = {PENSTOCK_SYSTEM, -1};
  int const ended[] = {PENSTOCK_ENDED, -1};
  int const bad =
      set_error(state, make_error(module, "ArgumentError", "What was asked for is impossible.", base, PyExc_ValueError),
                argument) < 0 ||
      set_error(state, make_error(module, "DeviceError", "A device is missing, refused or lost.", base, NULL), device) <
          0 ||
      set_error(state, make_error(module, "OutOfMemory", "Memory of some kind is used up.", base, PyExc_MemoryError),
                memory) < 0 ||
      set_error(state, make_error(module, "SystemRefused", "The operating system refused.", base, PyExc_OSError),
                system) < 0 ||
      set_error(state, make_error(module, "Ended", "The pipeline lends no more tiles.", base, NULL), ended) < 0;
  return bad ? -1 : set_error(state, base, plain);
}

static int fill_module(PyObject* module) {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
    PyErr_SetString(PyExc_ImportError,
                    "penstock works in the main interpreter only: import it there, and hand arrays to the others.");
    return -1;
  }
  CoreState* const state = PyModule_GetState(module);
  if (add_errors(module, state) < 0) return -1;
  struct {
    PyType_Spec* spec;
    PyTypeObject** place;
  } const types[] = {{&core_pipeline_spec, &state->pipeline_type},
                     {&core_tile_spec, &state->tile_type},
                     {&core_batch_spec, &state->batch_type},
                     {&core_kernel_spec, &state->kernel_type},
                     {&core_writer_spec, &state->writer_type}};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    *types[i].place = (PyTypeObject*)PyType_FromModuleAndSpec(module, types[i].spec, NULL);
    if (*types[i].place == NULL || PyModule_AddType(module, *types[i].place) < 0) return -1;
  }
  return PyModule_AddIntConstant(module, "LINES", PENSTOCK_LINES) < 0 ||
                 PyModule_AddIntConstant(module, "DECOMPRESS", PENSTOCK_DECOMPRESS) < 0 ||
                 PyModule_AddIntConstant(module, "FOLLOW", PENSTOCK_FOLLOW) < 0 ||
                 PyModule_AddIntConstant(module, "WHOLE_IMAGES", PENSTOCK_WHOLE_IMAGES) < 0 ||
                 PyModule_AddIntConstant(module, "AS_STORED", PENSTOCK_AS_STORED) < 0 ||
                 PyModule_AddIntConstant(module, "FULL_SIZE", PENSTOCK_FULL_SIZE) < 0 ||
                 PyModule_AddIntConstant(module, "RANDOM_PARTS", PENSTOCK_RANDOM_PARTS) < 0 ||
                 PyModule_AddIntConstant(module, "RANDOM_MIRRORS", PENSTOCK_RANDOM_MIRRORS) < 0
             ? -1
             : 0;
}

static int visit_module(PyObject* module, visitproc visit, void* arg) {
  CoreState* const state = PyModule_GetState(module);
  for (int i = 0; i < statuses; ++i) Py_VISIT(state->errors[i]);
  Py_VISIT(state->pipeline_type);
  Py_VISIT(state->tile_type);
  Py_VISIT(state->kernel_type);
  Py_VISIT(state->batch_type);
  Py_VISIT(state->writer_type);
  return 0;
}

static int clear_module(PyObject* module) {
  CoreState* const state = PyModule_GetState(module);
  for (int i = 0; i < statuses; ++i) Py_CLEAR(state->errors[i]);
  Py_CLEAR(state->pipeline_type);
  Py_CLEAR(state->tile_type);
  Py_CLEAR(state->kernel_type);
  Py_CLEAR(state->batch_type);
  Py_CLEAR(state->writer_type);
  return 0;
}

PyMODINIT_FUNC PyInit__core(void) {
  static PyMethodDef methods[] = {
      {"devices_json", describe_devices, METH_O, "devices_json(names)\n--\n\nWhat the devices of these names are."},
      {"version", version, METH_NOARGS, "version()\n--\n\nVersion of the library, as text."},
      {NULL, NULL, 0, NULL}};
  static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill_module}, {0, NULL}};
  static PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                   .m_name = "penstock._core",
                                   .m_doc = "The C interface of penstock. Import penstock instead.",
                                   .m_size = sizeof(CoreState),
                                   .m_methods = methods,
                                   .m_slots = slots,
                                   .m_traverse = visit_module,
                                   .m_clear = clear_module};
  return PyModuleDef_Init(&definition);
}
