# SPDX-License-Identifier: Apache-2.0
if(PENSTOCK_WITH_CUDA)
  set(cuda_package CUDAToolkit)
endif()

# Components, and the layers of each. Arrows lead down, from a component to those that it NEEDS. No include
# leads out of the engine.
penstock_add_component(engine
  DIVIDED
  SENTENCE "Pipeline, tiles, pool, lanes, signals, devices, and the graph around them."
  PACKAGES "Threads" "TBB 2021.8" "Hwloc 2.5" ${cuda_package}
  LAYERS   core device machine plan report flavour cpu cuda named_devices lane flow graph)

penstock_add_component(observe
  SENTENCE "What a run tells: verdict, trace, times of steps, ranges for profilers, attribution; options as text."
  NEEDS    engine
  LAYERS   verdict nvtx cupti observe)

penstock_add_component(models
  SENTENCE "GPUs that are modelled by the CPU device, their clock, and devices of every kind by name."
  NEEDS    engine
  LAYERS   models devices)

penstock_add_component(ingest
  SENTENCE "Sources: files, compressed files, sockets, packets, shared memory; where records begin and end."
  NEEDS    engine
  LAYERS   framing decoding file net ring)

penstock_add_component(egress
  SENTENCE "Sinks: records to files, pipes and connections; columns as Arrow has them."
  NEEDS    engine
  LAYERS   sink arrow)

penstock_add_component(records
  SENTENCE "Small work in tiles, and windows over it."
  NEEDS    engine
  LAYERS   records windows)

# It is built where SQLite is; where libpq is, too, it has ledgers in PostgreSQL. GLOBAL: programs that link the layer link them, too,
# wherever they are declared.
find_package(SQLite3 3.40 QUIET GLOBAL)
set(PENSTOCK_WITH_LEASE ${SQLite3_FOUND})
if(PENSTOCK_WITH_LEASE)
  set(lease_component lease)
endif()
find_package(PostgreSQL 14 QUIET GLOBAL)
set(PENSTOCK_WITH_POSTGRES ${PostgreSQL_FOUND})
if(PENSTOCK_WITH_POSTGRES)
  set(postgres_package "PostgreSQL 14")
  set(postgres_pkg_config libpq)
endif()
# Where libnats is, it takes messages of NATS as work.
find_package(Nats 3.4 QUIET GLOBAL)
set(PENSTOCK_WITH_NATS ${Nats_FOUND})
if(PENSTOCK_WITH_NATS)
  set(nats_package "Nats 3.4")
  set(nats_pkg_config libnats)
endif()
penstock_add_component(lease
  ONE_NAME
  SENTENCE   "Work on lease: many processes, each piece answered once; a ledger in a file of SQLite, or in PostgreSQL."
  REMEDY     "'lease' is built where SQLite 3.40 is: install libsqlite3-dev and build penstock again."
  NEEDS      engine
  PACKAGES   "SQLite3 3.40" ${postgres_package} ${nats_package}
  PKG_CONFIG sqlite3 ${postgres_pkg_config} ${nats_pkg_config}
  LAYERS     lease postgres ledgers nats)

penstock_add_component(kernels
  SENTENCE "Built-in kernels: BLAKE3, sums, transforms."
  NEEDS    engine
  LAYERS   kernels)

penstock_add_component(lines
  SENTENCE "Kernels on lines of text."
  NEEDS    kernels
  LAYERS   lines)

penstock_add_component(packets
  SENTENCE "Kernels on captured packets."
  NEEDS    ingest kernels
  LAYERS   packets)

penstock_add_component(radio
  SENTENCE "Kernels on samples of radio, and pictures of them."
  NEEDS    egress kernels
  LAYERS   radio)

# Where libjpeg is, images are also decoded.
find_package(JPEG QUIET GLOBAL)
set(PENSTOCK_WITH_JPEG ${JPEG_FOUND})
if(PENSTOCK_WITH_JPEG)
  set(jpeg_package JPEG)
  set(jpeg_pkg_config libjpeg)
endif()
penstock_add_component(images
  ONE_NAME
  SENTENCE   "Kernels on images; JPEG files decoded into tiles."
  NEEDS      kernels
  PACKAGES   ${jpeg_package}
  PKG_CONFIG ${jpeg_pkg_config}
  LAYERS     images jpeg)

penstock_add_component(collective
  SENTENCE "What several devices have, made one."
  NEEDS    kernels
  LAYERS   collective)

penstock_add_component(operate
  SENTENCE "A running program: metrics, stop signals, options in files."
  NEEDS    observe ingest
  LAYERS   operation)

penstock_add_component(job
  SENTENCE "A user's own work as a value, under run, bench, compare and tune."
  NEEDS    engine
  LAYERS   job)

penstock_add_component(c
  SHARED
  SENTENCE "The C interface: libpenstock.so, for languages that call C."
  NEEDS    ingest observe models images
  LAYERS   c)

penstock_add_component(jobs
  BY_NAME_ONLY
  FOLDER   programs
  SENTENCE "The program of a job: run, bench, compare, tune and watch. Its headers are not installed."
  REMEDY   "'jobs' is built with -DPENSTOCK_TOOLS=ON."
  NEEDS    observe models operate job kernels ${lease_component}
  LAYERS   page command measure whole_programs work bench compare tune injection watched watch jobs)

penstock_add_component(programs
  WITHOUT_LIBRARY
  FOLDER   programs
  SENTENCE "The command, which is not installed as a library."
  NEEDS    jobs ingest egress records lease collective
  LAYERS   hash doctor lab preload try program)
