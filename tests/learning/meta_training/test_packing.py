"""learning.meta_training.packing: rows as arrays, and trees of arrays on a device."""

from __future__ import annotations

import torch

from learning.meta_training.packing import PackedBatch, Packer, shipped
from learning.meta_training.rows import MetaRow, weighed

CPU = torch.device("cpu")
ONE, TWO = MetaRow((5, 6, 7), (1, 2)), MetaRow((8, 9), (1,), reference=4)


def test_a_pack_has_the_places_whose_outputs_predict_the_labels() -> None:
    batch = Packer(3).pack([ONE.weighing(0.5), TWO.weighing(0.25)])
    assert batch.ids.shape == (2, 13), "with the system prompt a multiple of 16"
    assert batch.ids[0, :4].tolist() == [5, 6, 7, 0]
    targets = batch.targets
    assert targets.at.tolist() == [0, 1] and targets.label.tolist() == [6, 7]
    assert targets.weight.tolist() == [0.5, 0.5] and targets.row.tolist() == [0, 0]
    assert targets.held_at.tolist() == [13] and targets.held_reference.tolist() == [4]
    assert targets.held_weight.tolist() == [0.25]


def test_short_and_long_rows_are_packed_apart_and_no_pack_is_too_large() -> None:
    short = [MetaRow((1,) * 10, (5,)) for _ in range(40)]
    long = [MetaRow((1,) * 100, (50,)) for _ in range(12)]
    found = Packer(0).packs([*long, *short], most=500)
    assert sum(pack.ids.shape[0] for pack in found) == 52
    assert all(pack.ids.size <= 500 for pack in found)
    assert {pack.ids.shape[1] for pack in found} == {16, 112}
    assert len(Packer(0).packs([*long[:2], *short], most=10_000)) == 1


def test_a_tree_comes_over_with_its_shapes_and_numbers() -> None:
    batch = Packer(1).pack([ONE, TWO])
    tree = [("name", 3, [batch]), batch]
    moved = shipped(tree, CPU)
    (name, number, (inner,)), outer = moved
    assert (name, number) == ("name", 3)
    for found in (inner, outer):
        assert isinstance(found, PackedBatch) and isinstance(found.ids, torch.Tensor)
        assert found.ids.tolist() == batch.ids.tolist()
        assert found.targets.weight.dtype == torch.float32
        assert found.targets.held_reference.tolist() == [4]


def test_the_weights_of_rows_make_a_mean_over_targets() -> None:
    assert [row.weight for row in weighed([ONE, TWO], 6.0)] == [2.0, 2.0]
    assert weighed([], 1.0) == []
