#include "fastmks/spaces/scaled_float_space.hpp"

#include <algorithm>
#include <cmath>

#include "fastmks/core/pulse.hpp"

namespace fastmks {
WideSpace::WideSpace(std::size_t size, WideForm form)
    : Space({.size = size,
             .isa = form.isa,
             .largest_self_value = form.is_normalized ? 1.0 : HUGE_VAL,
             .build_self_evaluations = form.is_normalized ? size : 0,
             .symmetry = Symmetry::proven,
             .is_expensive = true}),
      form_(form) {}

void WideSpace::complete(double relative_error) {
    if (form_.is_mercer && relative_error < 0.5) {
        // Normalised: both self values carry the error of K as well, and the root halves it.
        const double share = 2 * relative_error * (1 + 2 * relative_error) + 4 * roundoff;
        facts_.rounding = {form_.is_normalized ? share : relative_error, 0.0};
    }
    if (!form_.is_normalized) return;
    Scratch scratch;
    roots_.reserve(size());
    for (std::size_t i = 0; i < size(); ++i) {
        pulse_sometimes();
        roots_.push_back(make_root(compute(*this, i, i, scratch)));
    }
}

double WideSpace::self_value(std::size_t position) const {
    if (form_.is_normalized) return 1.0;
    Scratch scratch;
    return to_double(compute(*this, position, position, scratch));
}

bool WideSpace::accepts(const Space& queries) const noexcept {
    const auto* other = dynamic_cast<const WideSpace*>(&queries);
    return other && typeid(queries) == typeid(*this) && other->form_ == form_ &&
           has_same_kernel(*other);
}

void WideSpace::evaluate(const QueryBatch& queries, Selection objects, double* out,
                         std::size_t stride) const {
    const WideSpace& others = static_cast<const WideSpace&>(queries.space);
    const double limit = form_.is_mercer ? 1.0 : HUGE_VAL;
    Scratch scratch;
    for (std::size_t i = 0; i < queries.size; ++i) {
        const std::size_t query = queries.begin + i;
        for (std::size_t j = 0; j < objects.size; ++j) {
            const Wide value = compute(others, query, objects[j], scratch);
            out[i * stride + j] =
                form_.is_normalized
                    ? std::min(quotient(value, others.roots_[query], roots_[objects[j]]), limit)
                    : to_double(value);
        }
    }
}

}  // namespace fastmks
