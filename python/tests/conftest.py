# SPDX-License-Identifier: Apache-2.0
import gc

import pytest

import penstock


@pytest.fixture(autouse=True)
def all_tiles_come_home():
    """At the end of each test no pipeline has a tile that Python holds, unless the test has kept it by name."""
    yield
    gc.collect()
    held = [tiles for tiles in penstock._pipeline._open if tiles._core.held]
    assert not held, f"a tile never came home: {held}"
