#pragma once

#include "fastmks/tree/cover_tree.hpp"
#include "tests/support/testing.hpp"

namespace fastmks::test {

inline Vectors in_order(const Vectors& vectors, const CoverTree& tree) {
    Vectors out{vectors.n_rows, vectors.n_columns, {}};
    for (const std::int64_t position : tree.order) {
        const double* row = vectors.row(static_cast<std::size_t>(position));
        out.data.insert(out.data.end(), row, row + vectors.n_columns);
    }
    return out;
}

/// The tree of some vectors, and the vectors in its order.
struct Built {
    explicit Built(const Vectors& vectors, double base = 1.3, const VectorKernel& kernel = {})
        : tree(build_cover_tree(space_of(vectors, kernel), base, 1, ignore)),
          ordered(in_order(vectors, tree)),
          space(space_of(ordered, kernel)) {}
    [[nodiscard]] std::string fault() const { return find_fault(tree, space, ignore); }
    [[nodiscard]] long double distance(std::size_t a, std::size_t b) const {
        return exact_distance(ordered.row(a), ordered.row(b), ordered.n_columns);
    }
    CoverTree tree;
    Vectors ordered;
    VectorSpace space;
};

/// At least the distance of a node's point from that of its parent.
inline double& parent_distance(CoverTree& tree, std::size_t node) {
    return tree.parent_distance.edit()[node];
}

/// An array with some of its values changed, or their number.
template <class T, class Change>
void alter(Array<T>& array, Change change) {
    std::vector<T> values(array.begin(), array.end());
    change(values);
    array = Array<T>(std::move(values));
}

}  // namespace fastmks::test
