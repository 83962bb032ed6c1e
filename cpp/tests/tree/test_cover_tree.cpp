// The tree itself: what is promised of every figure, which damage is found, which values are
// refused.

#include "fastmks/tree/cover_tree.hpp"

#include "fastmks/core/geometry.hpp"
#include "tests/support/testing.hpp"
#include "tests/support/trees.hpp"

namespace {

Vectors duplicates(std::size_t n) {
    const auto some = spread_out(3, 4, 0.0, 1.0, 5);
    Vectors vectors{n, 4, {}};
    for (std::size_t i = 0; i < n; ++i) {
        const double* row = some.row(i * i % 3);
        vectors.data.insert(vectors.data.end(), row, row + 4);
    }
    return vectors;
}

Vectors chain(std::size_t n) {
    Vectors vectors{n, 1, {}};
    for (std::size_t i = 0; i < n; ++i) vectors.data.push_back(std::pow(2.0, i));
    return vectors;
}

Vectors equidistant(std::size_t n) {
    Vectors vectors{n, n, std::vector<double>(n * n)};
    for (std::size_t i = 0; i < n; ++i) vectors.data[i * n + i] = 1.0;
    return vectors;
}

// Distances at which the square cannot be told from zero, and just not: around one point on a
// circle, with squares from `from` to `to` of the slack.
Vectors at_the_slack(std::size_t n, double from, double to) {
    const Geometry geometry(space_of(spread_out(1, 3, 0.0, 1.0, 1)).rounding());
    Draw draw(9);
    Vectors vectors{n, 3, {1.0, 0.0, 0.0}};
    for (std::size_t i = 1; i < n; ++i) {
        const double share = from + (to - from) * std::abs(draw.unit()), angle = 4.0 * draw.unit();
        const double away = std::sqrt(geometry.square_slack(1.0, 1.0) * share);
        vectors.data.insert(vectors.data.end(),
                            {1.0, away * std::cos(angle), away * std::sin(angle)});
    }
    return vectors;
}

struct Named {
    std::string name;
    Vectors vectors;
};

std::vector<Named> all_sets() {
    return {{"random", spread_out(400, 3, 0.0, 1.0, 1)},
            {"long vectors", spread_out(150, 40, 0.0, 1.0, 2)},
            {"duplicates", duplicates(60)},
            {"one", spread_out(1, 3, 0.0, 1.0, 3)},
            {"two", spread_out(2, 3, 0.0, 1.0, 3)},
            {"a chain", chain(300)},
            {"equidistant", equidistant(40)},
            {"zeros", spread_out(50, 3, 0.0, 0.0, 4)},
            {"one zero", draw_vectors(40, 3, 2, 5)},  // its second row
            {"1e-6 around 1000", spread_out(300, 3, 1000.0, 1e-6, 6)},
            {"1e-9 apart at 1e4", spread_out(200, 5, 1e4, 1e-9, 7)},
            {"at the slack", at_the_slack(500, 0.5, 2.0)},
            {"just beyond the slack", at_the_slack(2000, 1.0, 1.01)},
            {"tiny", spread_out(100, 3, 0.0, 1e-150, 8)},
            {"lost to underflow", spread_out(100, 3, 0.0, 1e-162, 8)},
            {"huge", spread_out(100, 3, 0.0, 1e150, 9)},
            {"the largest, opposite", {3, 1, {0x1p510, -0x1p510, 1.0}}}};
}

void check_figures(Built built) {
    CoverTree& tree = built.tree;
    for (std::size_t at = 0; at < tree.nodes.size(); ++at) {
        const Node& node = tree.nodes[at];
        for (std::size_t place = node.begin; place < node.end; ++place) {
            const double* row = built.ordered.row(place);
            const long double norm = std::sqrt(exact_product(row, row, built.ordered.n_columns));
            CHECK(built.distance(node.begin, place) <= node.radius);
            CHECK(node.least_norm <= norm && norm <= node.greatest_norm);
            CHECK(norm <= tree.norms[place]);
            CHECK(place != node.begin || norm <= node.point_norm);
        }
        for (std::size_t place = node.leaves; place < node.end; ++place) {
            CHECK(built.distance(node.begin, place) <= tree.leaf_distance[place]);
        }
        for (std::uint32_t i = 0; i < node.n_children; ++i) {
            const Node& child = tree.nodes[node.first_child + i];
            CHECK(built.distance(node.begin, child.begin) <=
                  parent_distance(tree, node.first_child + i));
            for (std::size_t place = child.begin; place < child.end; ++place) {
                CHECK(built.distance(node.begin, place) <= child.parent_radius);
            }
        }
    }
}

// The faults of trees damaged by `damage`, at each node in turn; it returns false where it does not
// apply. Damage to the shape alone makes no figure false.
using Damage = std::function<bool(CoverTree&, std::size_t at)>;
void check_damage(const Built& built, const char* name, const Damage& damage,
                  bool is_of_shape = false) {
    std::size_t n_damaged = 0;
    for (std::size_t at = 0; at < built.tree.nodes.size(); ++at) {
        const check::Context here(std::string(name) + text(", node", at));
        CoverTree tree = built.tree;
        if (!damage(tree, at)) continue;
        ++n_damaged;
        CHECK(!find_fault(tree, built.space, ignore).empty());
        CHECK(find_false_figure(tree, built.space, ignore).empty() == is_of_shape);
    }
    CHECK(n_damaged > 0);
}

template <class T>
Damage on_field(T Node::* field, std::function<T(T)> change) {
    return [=](CoverTree& tree, std::size_t at) {
        const T before = tree.nodes[at].*field;
        tree.nodes.edit()[at].*field = change(before);
        return tree.nodes[at].*field != before;
    };
}

}  // namespace

TEST(good_trees_have_no_fault) {
    for (const auto& [name, vectors] : all_sets()) {
        for (const double base : {1.3, 2.0, 1.05}) {
            const check::Context here(name + ", base " + std::to_string(base));
            CHECK(Built(vectors, base).fault() == "");
        }
    }
    for (const VectorKernel& kernel : all_kernels()) {
        if (std::isinf(space_of(chain(1), kernel).rounding().relative)) continue;
        if (kernel.form == "epanechnikov" || kernel.form == "triangular") continue;
        const check::Context here(kernel.form);
        CHECK(Built(spread_out(150, 3, 0.0, 1.0, 3), 1.3, kernel).fault() == "");
    }
}

TEST(every_figure_errs_on_its_side_of_the_exact_one) {
    if (!has_reference) return;
    for (const auto& [name, vectors] : all_sets()) {
        const check::Context here(name);
        check_figures(Built(vectors));
    }
}

TEST(damage_is_found) {
    const Built built(spread_out(300, 2, 0.0, 3.0, 1));
    CHECK(built.fault() == "");
    const auto integer = [&](const char* name, std::uint32_t Node::* field, std::uint32_t by) {
        check_damage(built, name, on_field<std::uint32_t>(field, [by](auto x) { return x + by; }));
    };
    constexpr std::uint32_t less = 0xffffffff;
    integer("begin", &Node::begin, 1);
    integer("begin", &Node::begin, less);
    integer("end", &Node::end, 1);
    integer("end", &Node::end, less);
    integer("leaves", &Node::leaves, 1);
    integer("leaves", &Node::leaves, less);
    integer("n_children", &Node::n_children, 1);
    for (const std::uint32_t by : {std::uint32_t{1}, less}) {
        check_damage(built, "first_child", [by](CoverTree& tree, std::size_t at) {
            tree.nodes.edit()[at].first_child += by;
            return tree.nodes[at].n_children > 0;
        });
    }
    check_damage(built, "fewer children", [](CoverTree& tree, std::size_t at) {
        return tree.nodes[at].n_children > 0 && tree.nodes.edit()[at].n_children-- > 0;
    });
    const auto real = [&](const char* name, double Node::* field, double factor) {
        check_damage(built, name, on_field<double>(field, [=](double x) { return x * factor; }));
    };
    real("point_norm", &Node::point_norm, 1.0 - 1e-9);
    real("greater point_norm", &Node::point_norm, 1.0 + 1e-9);
    real("radius", &Node::radius, 1.0 - 1e-9);
    real("greatest_norm", &Node::greatest_norm, 1.0 - 1e-9);
    real("least_norm", &Node::least_norm, 1.0 + 1e-9);
    check_damage(built, "parent_radius", [](CoverTree& tree, std::size_t at) {
        tree.nodes.edit()[at].parent_radius *= 1.0 - 1e-9;
        return at > 0;
    });
    check_damage(built, "parent_distance", [](CoverTree& tree, std::size_t at) {
        double& distance = parent_distance(tree, at);
        return distance > 0.0 && (distance *= 1.0 - 1e-9) > 0.0;
    });
    check_damage(built, "leaf_distance", [](CoverTree& tree, std::size_t at) {
        const Node& node = tree.nodes[at];
        if (node.leaves < node.end) tree.leaf_distance.edit()[node.end - 1] *= 1.0 - 1e-9;
        return node.leaves < node.end;
    });
    check_damage(built, "norms", [](CoverTree& tree, std::size_t at) {
        return (tree.norms.edit()[tree.nodes[at].begin] *= 1.0 - 1e-9) > 0.0;
    });
    check_damage(built, "greater norms", [](CoverTree& tree, std::size_t at) {
        return (tree.norms.edit()[tree.nodes[at].begin] *= 1.0 + 1e-9) > 0.0;
    });
    const auto lower = [](CoverTree& tree, std::size_t at) {
        return (tree.nodes.edit()[at].level -= 40) != 0;
    };
    check_damage(built, "level below", lower, true);
    const auto raise = [](CoverTree& tree, std::size_t at) {
        const Node& node = tree.nodes[at];  // something must be apart from the point
        tree.nodes.edit()[at].level += 40;
        return node.leaves < node.end || node.n_children > 1;
    };
    check_damage(built, "level above", raise, true);
}

TEST(damage_to_the_whole_is_found) {
    const Built built(spread_out(300, 2, 0.0, 3.0, 1));
    const std::function<void(CoverTree&)> damages[] = {
        [](CoverTree& tree) { tree.nodes = {}; },
        [](CoverTree& tree) { alter(tree.nodes, [](auto& nodes) { nodes.pop_back(); }); },
        [](CoverTree& tree) {
            alter(tree.nodes, [](auto& nodes) { nodes.push_back(nodes.back()); });
        },
        [](CoverTree& tree) {
            alter(tree.nodes, [](auto& nodes) { std::swap(nodes[1], nodes.back()); });
        },
        [](CoverTree& tree) { alter(tree.order, [](auto& order) { order.pop_back(); }); },
        [](CoverTree& tree) { alter(tree.norms, [](auto& norms) { norms.pop_back(); }); },
        [](CoverTree& tree) { alter(tree.leaf_distance, [](auto& all) { all.pop_back(); }); },
        [](CoverTree& tree) { tree.order.edit()[3] = tree.order[4]; },
        [](CoverTree& tree) { tree.order.edit()[3] = -1; },
        [](CoverTree& tree) { tree.order.edit()[3] = 300; },
        [](CoverTree& tree) { tree.base = 30.0; },
        [](CoverTree& tree) { tree.base = 1.01; },
    };
    for (const auto& damage : damages) {
        CoverTree tree = built.tree;
        damage(tree);
        CHECK(!find_fault(tree, built.space, ignore).empty());
    }
    const auto others = space_of(spread_out(300, 2, 0.0, 3.0, 2));
    CHECK(!find_fault(built.tree, others, ignore).empty());
}
