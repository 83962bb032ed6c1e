

#include "bindings/core/archive.hpp"
#include "bindings/core/arrays.hpp"
#include "bindings/core/running.hpp"
#include "fastmks/tree/cover_tree.hpp"
#include "fastmks/tree/tree_search.hpp"

namespace fastmks::bindings {
namespace {

using Counts = std::map<std::string, std::size_t>;

std::shared_ptr<CoverTree> build(const Space& space, double base, std::size_t threads,
                                 const nb::object& progress) {
    return std::make_shared<CoverTree>(
        build_cover_tree(space, base, threads, python_watch(progress)));
}

NamedArrays arrays(const nb::handle_t<CoverTree>& self) {
    return to_dict(arrays_of(nb::cast<const CoverTree&>(self)), self);
}

std::shared_ptr<CoverTree> restore(const NamedArrays& arrays, std::size_t n_objects) {
    const Arrays parts = from_dict(arrays);
    const WithoutGil without_gil;
    return std::make_shared<CoverTree>(restore_cover_tree(parts, n_objects));
}

template <std::string (*find)(const CoverTree&, const Space&, const Watch&)>
std::string find_in(const CoverTree& tree, const Space& space, const nb::object& progress) {
    return find(tree, space, python_watch(progress));
}

// Every field of every node, as columns of a table.
nb::typed<nb::dict, nb::str, nb::object> node_table(const CoverTree& tree) {
    const std::size_t n = tree.nodes.size();
    nb::dict table;
    const auto integers = [&](const char* name, auto field) {
        table[name] = array_of<std::int64_t>(
            n, [&](std::size_t i) { return static_cast<std::int64_t>(tree.nodes[i].*field); });
    };
    const auto reals = [&](const char* name, double Node::* field) {
        table[name] = array_of<double>(n, [&](std::size_t i) { return tree.nodes[i].*field; });
    };
    integers("begin", &Node::begin);
    integers("end", &Node::end);
    integers("leaves", &Node::leaves);
    integers("first_child", &Node::first_child);
    integers("n_children", &Node::n_children);
    integers("level", &Node::level);
    table["parent_distance"] =
        array_of<double>(n, [&](std::size_t i) { return tree.parent_distance[i]; });
    reals("point_norm", &Node::point_norm);
    reals("parent_radius", &Node::parent_radius);
    reals("radius", &Node::radius);
    reals("least_norm", &Node::least_norm);
    reals("greatest_norm", &Node::greatest_norm);
    return table;
}

std::size_t n_bytes(const CoverTree& tree) {
    return tree.nodes.n_bytes() + tree.order.n_bytes() + tree.norms.n_bytes() +
           tree.leaf_distance.n_bytes() + tree.parent_distance.n_bytes();
}

Traversal traversal(const std::string& order, std::size_t block, std::size_t cheap,
                    const std::set<std::string>& bounds) {
    const auto has = [&](const char* name) { return bounds.count(name) > 0; };
    if (order != "best-first" && order != "level") throw std::invalid_argument("no such order");
    if (block == 0) throw std::invalid_argument("block must be at least 1");
    return {order == "level" ? Order::level : Order::best_first,
            block,
            cheap,
            {has("ball"), has("cap"), has("shell"), has("parent")}};
}

Counts named(const TreeCounts& counts) {
    static constexpr const char* kinds[n_bound_kinds] = {"ball", "cap", "shell"};
    Counts out{{"evaluations", counts.evaluations},
               {"self_evaluations", counts.self_evaluations},
               {"bounds", counts.bounds},
               {"nodes", counts.nodes}};
    for (std::size_t i = 0; i < n_bound_kinds; ++i) {
        out[std::string("before_") + kinds[i]] = counts.pruned_before[i];
        out[std::string("after_") + kinds[i]] = counts.pruned_after[i];
    }
    return out;
}

TreeProblem tree_problem(const CoverTree& tree, const Space& objects, const Space& queries,
                         const std::optional<Positions>& among, bool skip_self,
                         const Traversal& traversal) {
    check_queries(objects, queries);
    if (objects.size() != tree.size() || (skip_self && queries.size() != tree.size())) {
        throw std::invalid_argument("the tree must have been built for these objects");
    }
    TreeProblem problem{tree, objects, queries, {}, skip_self, traversal};
    if (among) {
        const Selection places = selection(objects, among);
        problem.among = std::span(places.positions, places.size);
    }
    return problem;
}

using Answers = std::tuple<Result<double>, Result<std::int64_t>, Result<double>, Counts>;

// Runs search(answers, watch) without the GIL and hands its answers to Python.
template <class Search>
Answers answered(std::size_t n, std::size_t k, const nb::object& progress, Search search) {
    TreeCounts counts;
    const auto run = [&](const Watch& watch, TopKAnswers answers) {
        counts = search(answers, watch);
    };
    ApproximateArrays found = run_approximate_top_k(n, k, progress, run);
    return std::tuple_cat(std::move(found), std::make_tuple(named(counts)));
}

std::size_t n_searched(const CoverTree& tree, const std::optional<Positions>& among) {
    return among ? among->size() : tree.size();
}

Answers top_k(const CoverTree& tree, const Space& objects, const Space& queries,
              const std::optional<Positions>& among, bool skip_self, std::size_t k,
              const std::optional<Thresholds>& floors, const Traversal& traversal, double epsilon,
              double relative, std::optional<std::size_t> budget, std::optional<double> seconds,
              std::size_t sample_size, std::uint64_t seed, std::size_t threads,
              const nb::object& progress) {
    TreeProblem problem = tree_problem(tree, objects, queries, among, skip_self, traversal);
    problem.floors = check_floors(floors, queries.size());
    const std::size_t n_among = n_searched(tree, among);
    check_k(n_among, skip_self, k);
    const StopRule stop = stop_rule(epsilon, relative, budget, seconds);
    if (stop.budget < k + (skip_self ? 1 : 0) || (budget && among)) {
        throw std::invalid_argument("budget must be at least k, and goes without among");
    }
    if (sample_size > n_among || (sample_size > 0 && (sample_size < k || skip_self))) {
        throw std::invalid_argument("a sample must hold k objects and goes without skip_self");
    }
    return answered(queries.size(), k, progress, [&](TopKAnswers answers, const Watch& watch) {
        return tree_top_k(problem, k, stop, {sample_size, seed}, threads, watch, answers);
    });
}

Answers dual_top_k(const CoverTree& tree, const CoverTree& query_tree, const Space& objects,
                   const Space& queries, const std::optional<Positions>& among, bool skip_self,
                   std::size_t k, const Traversal& traversal, double epsilon, double relative,
                   std::size_t threads, const nb::object& progress) {
    const TreeProblem problem = tree_problem(tree, objects, queries, among, skip_self, traversal);
    check_k(n_searched(tree, among), skip_self, k);
    if (queries.size() != query_tree.size()) {
        throw std::invalid_argument("the query tree must have been built for these queries");
    }
    const StopRule stop{epsilon, relative, SIZE_MAX, std::nullopt};
    return answered(queries.size(), k, progress, [&](TopKAnswers answers, const Watch& watch) {
        return dual_tree_top_k(problem, query_tree, k, stop, threads, watch, answers);
    });
}

std::tuple<HitArrays, Counts> above(const CoverTree& tree, const Space& objects,
                                    const Space& queries, const std::optional<Positions>& among,
                                    const Thresholds& thresholds, const Traversal& traversal,
                                    std::size_t threads, const nb::object& progress) {
    const TreeProblem problem = tree_problem(tree, objects, queries, among, false, traversal);
    TreeCounts counts;
    HitArrays found = run_above(queries, thresholds, progress, [&](const Watch& watch) {
        std::vector<std::vector<Hit>> answers;
        counts = tree_above(problem, thresholds.data(), threads, watch, answers);
        return answers;
    });
    return {std::move(found), named(counts)};
}

}  // namespace

void register_tree(nb::module_& m) {
    nb::class_<Traversal>(m, "Traversal", "How a tree search goes about it.")
        .def(
            "__init__",
            [](Traversal* self, const std::string& order, std::size_t block, std::size_t cheap,
               const std::set<std::string>& bounds) {
                new (self) Traversal(traversal(order, block, cheap, bounds));
            },
            "order"_a, "block"_a, "cheap"_a, "bounds"_a);

    nb::class_<CoverTree>(m, "CoverTree", "A cover tree in the kernel's Hilbert space.")
        .def("__len__", &CoverTree::size)
        .def_prop_ro("base", [](const CoverTree& tree) { return tree.base; })
        .def_prop_ro("n_nodes", [](const CoverTree& tree) { return tree.nodes.size(); })
        .def_prop_ro("n_bytes", &n_bytes)
        .def_prop_ro("build_evaluations",
                     [](const CoverTree& tree) { return tree.build_evaluations; })
        .def_prop_ro("build_self_evaluations",
                     [](const CoverTree& tree) { return tree.build_self_evaluations; })
        .def("order",
             [](const CoverTree& tree) {
                 return array_of<std::int64_t>(tree.size(),
                                               [&](std::size_t i) { return tree.order[i]; });
             })
        .def("leaf_distances",
             [](const CoverTree& tree) {
                 return array_of<double>(tree.size(),
                                         [&](std::size_t i) { return tree.leaf_distance[i]; });
             })
        .def("nodes", &node_table)
        .def("arrays", &arrays)
        .def("find_fault", &find_in<find_fault>, "space"_a, "progress"_a.none() = nb::none(),
             Unlocked())
        .def("find_false_figure", &find_in<find_false_figure>, "space"_a, "progress"_a.none(),
             Unlocked());

    m.attr("smallest_base") = smallest_base;
    m.attr("largest_self_value") = Geometry::largest_self_value;
    m.def("build_cover_tree", &build, "space"_a, "base"_a, "threads"_a, "progress"_a.none(),
          Unlocked());
    m.def("restore_cover_tree", &restore, "arrays"_a, "n_objects"_a);
    m.def("tree_top_k", &top_k, "tree"_a, "objects"_a, "queries"_a, "among"_a.none(), "skip_self"_a,
          "k"_a, "floors"_a.none(), "traversal"_a, "epsilon"_a, "relative"_a, "budget"_a.none(),
          "seconds"_a.none(), "sample_size"_a, "seed"_a, "threads"_a, "progress"_a.none());
    m.def("dual_tree_top_k", &dual_top_k, "tree"_a, "query_tree"_a, "objects"_a, "queries"_a,
          "among"_a.none(), "skip_self"_a, "k"_a, "traversal"_a, "epsilon"_a, "relative"_a,
          "threads"_a, "progress"_a.none());
    m.def("tree_above", &above, "tree"_a, "objects"_a, "queries"_a, "among"_a.none(),
          "thresholds"_a, "traversal"_a, "threads"_a, "progress"_a.none());
}

}  // namespace fastmks::bindings
