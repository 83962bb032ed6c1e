"""Find similar recipes with a kernel in plain Python, and count the calls that a tree saves.

A recipe is a set of ingredients; two of them are compared by how rare the ingredients are that they
share. The function knows nothing of vectors, and fastmks nothing of recipes.

    python examples/your_own_kernel.py [file with lines such as "pesto: basil, oil, garlic"]
"""

import math
import random
import sys
from collections import Counter
from pathlib import Path

import fastmks
from fastmks import kernels

Recipe = frozenset[str]
KITCHENS = {
    "Italian": "tomato basil olive-oil garlic pasta mozzarella oregano parmesan",
    "Indian": "cumin turmeric ginger garlic onion chilli rice yoghurt coriander",
    "Japanese": "soy rice nori ginger sesame miso tofu mirin",
    "Mexican": "corn beans chilli lime coriander avocado onion tomato",
}


def cooked_up(n: int) -> dict[str, Recipe]:
    """Return made-up recipes."""
    draw = random.Random(0)
    recipes = {}
    for number in range(n):
        kitchen = draw.choice(sorted(KITCHENS))
        ingredients = draw.sample(KITCHENS[kitchen].split(), 4) + draw.choices(["salt", "oil"])
        recipes[f"{kitchen} {number}"] = frozenset(ingredients)
    return recipes


def read(path: Path) -> dict[str, Recipe]:
    """Return the recipes of a file."""
    lines = (line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)
    return {
        name.strip(): frozenset(word.strip() for word in rest.split(",")) for name, rest in lines
    }


def main() -> None:
    """Index the recipes, search them, and print the hits."""
    recipes = read(Path(sys.argv[1])) if len(sys.argv) > 1 else cooked_up(2000)
    counts = Counter(word for recipe in recipes.values() for word in recipe)
    rarity = {word: math.log(1.0 + len(recipes) / count) for word, count in counts.items()}

    def shared_rarity(x: Recipe, y: Recipe) -> float:
        # A sum over shared things of their weights is a Mercer kernel. Sorted: a set has no order
        # of its own, and the last bit of a sum has.
        return sum(rarity.get(word, 0.0) for word in sorted(x & y))

    kernel = kernels.Normalized(kernels.Custom(shared_rarity))
    index = fastmks.Index(list(recipes.values()), kernel, ids=list(recipes), algorithm="tree")
    for name in list(recipes)[:3]:
        hits = index.search([recipes[name]], k=4)
        share = hits.stats.kernel_evaluations / len(index)
        print(f"{name} ({', '.join(sorted(recipes[name]))}); evaluated {share:.1%} of the recipes")
        for found, value in zip(hits.ids[0], hits.values[0], strict=True):
            print(f"    {value:.3f}  {found}: {', '.join(sorted(recipes[str(found)]))}")


if __name__ == "__main__":
    main()
