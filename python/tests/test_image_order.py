# SPDX-License-Identifier: Apache-2.0
"""Order, shards and batches of images; nothing is decoded."""
import types

from hypothesis import given, strategies as st

import penstock
from penstock import _images

SETTINGS = {
    "images": st.integers(1, 60),
    "batch": st.integers(1, 9),
    "ranks": st.integers(1, 5),
    "shuffle": st.none() | st.integers(0, 3),
    "epoch": st.integers(0, 3),
    "even": st.booleans(),
    "drop_last": st.booleans(),
}


def ranks_of(images, ranks, **options):
    paths = [f"{i}.jpg" for i in range(images)]
    return [penstock.images(paths, shard=(rank, ranks), **options) for rank in range(ranks)]


@given(**SETTINGS)
def test_shards_share_the_images(images, ranks, even, drop_last, **options):
    shards = [list(one.indices()) for one in ranks_of(images, ranks, even=even, drop_last=drop_last, **options)]
    all_of_them = sum(shards, [])
    if even:
        assert len({len(one) for one in shards}) == 1
        assert drop_last or set(all_of_them) == set(range(images))
        assert len(all_of_them) < images + ranks
    else:
        assert len(set(all_of_them)) == len(all_of_them)
        assert drop_last or sorted(all_of_them) == list(range(images))
        assert max(map(len, shards)) - min(map(len, shards)) <= (options["batch"] if drop_last else 1)


@given(**SETTINGS, start=st.integers(0, 12))
def test_a_start_leaves_out_whole_batches(images, batch, ranks, start, **options):
    for one in ranks_of(images, ranks, batch=batch, **options):
        whole, rest = one.indices(), one.epoch(one.number, start)
        assert rest.indices() == whole[start * batch :] and len(rest) == max(0, len(one) - start)
        assert len(one) == -(-len(whole) // batch)


@given(**SETTINGS, workers=st.integers(1, 4), start=st.integers(0, 3))
def test_workers_have_the_batches_of_a_run_without_them(images, batch, ranks, workers, start, **options):
    for one in ranks_of(images, ranks, batch=batch, **options):
        one = one.epoch(one.number, start)
        whole = one.indices()
        parts = []
        for worker in range(workers):
            one.numbering = lambda worker=worker: (start + worker, workers)
            mine = one.indices()
            parts.append([mine[at : at + batch] for at in range(0, len(mine), batch)])
        in_turn = [parts[number % workers][number // workers] for number in range(sum(map(len, parts)))]
        assert sum(map(list, in_turn), []) == list(whole)


@given(st.integers(2, 60), st.integers(0, 2**64), st.integers(0, 100))
def test_an_order_depends_on_seed_and_epoch_alone(images, seed, epoch):
    (one,) = ranks_of(images, 1, shuffle=seed, epoch=epoch)
    (same,) = ranks_of(images, 1, shuffle=seed)
    assert one.indices() == same.epoch(epoch).indices()
    (names,) = ranks_of(images, 1)
    assert list(names.indices()) == list(range(images))


def test_orders_differ_between_seeds_and_epochs():
    orders = {tuple(ranks_of(60, 1, shuffle=seed, epoch=epoch)[0].indices()) for seed in range(5) for epoch in range(5)}
    assert len(orders) == 25


def test_an_order_is_the_same_in_every_version():
    """A run that goes on with another Python, or on another machine, must have the order of the one before."""
    assert list(ranks_of(10, 1, shuffle=1, epoch=3)[0].indices()) == [9, 1, 8, 0, 7, 5, 2, 3, 4, 6]


def test_a_worker_of_torch_is_asked_for(monkeypatch):
    info = types.SimpleNamespace(id=1, num_workers=3)
    monkeypatch.setitem(_images.sys.modules, "torch.utils.data", types.SimpleNamespace(get_worker_info=lambda: info))
    (one,) = ranks_of(10, 1, batch=2)
    assert list(one.indices()) == [2, 3, 8, 9] and one.epoch(0, 2).numbering() == (3, 3)
