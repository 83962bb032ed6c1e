"""The instruction sets of the C++ core: each has its row, and the recipe shows one."""

import pytest

from support.paths import ROOT

SIMD = ROOT / "cpp" / "fastmks" / "simd"
TARGETS = sorted((SIMD / "targets").glob("*.cpp"))


@pytest.mark.parametrize("target", TARGETS, ids=lambda path: path.stem)
def test_a_target_has_its_name_and_a_row(target):
    assert f"#define FASTMKS_ISA {target.stem}\n" in target.read_text()
    assert f'{{"{target.stem}", ' in (SIMD / "isa.cpp").read_text()


def test_the_recipe_shows_a_target_as_it_is():
    recipe = (ROOT / "docs" / "developers" / "add-a-target.md").read_text()
    assert f"```cpp\n{(SIMD / 'targets' / 'avx2.cpp').read_text()}```" in recipe
