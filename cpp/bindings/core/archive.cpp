#include "bindings/core/archive.hpp"

namespace fastmks::bindings {
namespace {

using Numbers = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

template <class T>
nb::object as_numpy(const ArrayView& view, nb::handle owner) {
    return nb::cast(nb::ndarray<nb::numpy, const T>(static_cast<const T*>(view.data),
                                                    view.shape.size(), view.shape.data(), owner));
}

nb::object as_numpy(const ArrayView& view, nb::handle owner) {
    switch (view.element) {
        case Element::uint8:
            return as_numpy<std::uint8_t>(view, owner);
        case Element::int32:
            return as_numpy<std::int32_t>(view, owner);
        case Element::uint32:
            return as_numpy<std::uint32_t>(view, owner);
        case Element::int64:
            return as_numpy<std::int64_t>(view, owner);
        case Element::uint64:
            return as_numpy<std::uint64_t>(view, owner);
        case Element::float32:
            return as_numpy<float>(view, owner);
        case Element::float64:
            break;
    }
    return as_numpy<double>(view, owner);
}

// The object that keeps the data of an array alive that does not belong to the structure.
nb::object owner_of(const ArrayView& view) {
    using Owner = std::shared_ptr<const void>;
    return nb::capsule(new Owner(view.owner),
                       [](void* owner) noexcept { delete static_cast<Owner*>(owner); });
}

std::optional<Element> element_of(nb::dlpack::dtype type) {
    if (type == nb::dtype<std::uint8_t>()) return Element::uint8;
    if (type == nb::dtype<std::int32_t>()) return Element::int32;
    if (type == nb::dtype<std::uint32_t>()) return Element::uint32;
    if (type == nb::dtype<std::int64_t>()) return Element::int64;
    if (type == nb::dtype<std::uint64_t>()) return Element::uint64;
    if (type == nb::dtype<float>()) return Element::float32;
    if (type == nb::dtype<double>()) return Element::float64;
    return std::nullopt;
}

ArrayView view_of(const std::string& name, nb::handle array) {
    Numbers numbers;
    const bool is_array = nb::try_cast(array, numbers, false) && numbers.is_valid();
    const auto element = is_array ? element_of(numbers.dtype()) : std::nullopt;
    if (!element) {
        const nb::handle kind = nb::hasattr(array, "dtype") ? array.attr("dtype") : array.type();
        throw std::invalid_argument("array '" + name +
                                    "' must be a numpy array in one piece, of numbers as they come "
                                    "in files; got " +
                                    std::string(nb::str(kind).c_str()));
    }
    ArrayView view{*element, {}, numbers.data(), nullptr};
    for (std::size_t i = 0; i < numbers.ndim(); ++i) view.shape.push_back(numbers.shape(i));
    // Searches drop structures on whatever thread.
    view.owner = std::shared_ptr<const void>(new Numbers(std::move(numbers)), [](const void* kept) {
        const WithGil with_gil;
        delete static_cast<const Numbers*>(kept);
    });
    return view;
}

}  // namespace

NamedArrays to_dict(const Arrays& arrays, nb::handle structure) {
    nb::dict named;
    for (const auto& [name, view] : arrays) {
        const nb::object owner = view.owner ? owner_of(view) : nb::borrow(structure);
        named[name.c_str()] = as_numpy(view, owner);
    }
    return NamedArrays(named);
}

Arrays from_dict(const NamedArrays& named) {
    Arrays arrays;
    for (const nb::handle item : named.items()) {
        if (!nb::isinstance<nb::str>(item[0])) {
            throw std::invalid_argument("the names of arrays must be strings");
        }
        const std::string name = nb::str(item[0]).c_str();
        arrays.emplace(name, view_of(name, item[1]));
    }
    return arrays;
}

}  // namespace fastmks::bindings
