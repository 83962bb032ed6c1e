#include "fastmks/filters/postings.hpp"

#include "bindings/filters/filters.hpp"

namespace fastmks::bindings {
namespace {

std::shared_ptr<Postings> postings(const Space& objects, const nb::object& progress) {
    return std::make_shared<Postings>(objects, python_watch(progress));
}

}  // namespace

void register_postings(nb::module_& m) {
    bind_structure<Postings>(m, "Postings", "Sparse vectors by columns.")
        .def_static("fits", &Postings::fits, "objects"_a)
        .def_prop_ro("n_planes", &Postings::n_planes)
        .def_prop_ro("n_postings", &Postings::n_postings);
    m.def("postings", &postings, "objects"_a, "progress"_a.none(), Unlocked());
    m.def("restore_postings", &restore_structure<Postings>, "objects"_a, "arrays"_a);
    const auto serves = [](const Postings& postings, const Space& objects) {
        return postings.size() == objects.size() && Postings::fits(objects);
    };
    bind_searches<Postings>(m, "postings", &postings_top_k, &postings_above, serves);
    bind_approximate<Postings>(m, "postings", &postings_approximate_top_k, serves);
}

}  // namespace fastmks::bindings
