#include "fastmks/core/archive.hpp"

#include <bit>
#include <stdexcept>

namespace fastmks {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::int64_t largest_exponent = 2048;  // beyond every number, and far from overflow

std::string words(Element element) {
    constexpr const char* names[] = {"uint8",  "int32",   "uint32", "int64",
                                     "uint64", "float32", "float64"};
    return names[static_cast<std::size_t>(element)];
}

std::string words(const ArrayView& view) {
    std::string text = words(view.element) + " of shape (";
    for (std::size_t i = 0; i < view.shape.size(); ++i) {
        text += (i > 0 ? ", " : "") + std::to_string(view.shape[i]);
    }
    return text + ")";
}

}  // namespace

void refuse_array(std::string_view name, std::string_view fault) {
    throw std::invalid_argument("array '" + std::string(name) +
                                "' is damaged: " + std::string(fault));
}

void check_length(const std::string& name, double length) {
    check_lengths(name, Array<double>(1, length));
}

void check_exponent(const std::string& name, std::int64_t exponent) {
    check_array(std::abs(exponent) <= largest_exponent, name, "an exponent is out of range");
}

void ArrayWriter::matrix(const std::string& name, std::vector<double> numbers,
                         std::size_t n_columns) {
    auto kept = std::make_shared<const std::vector<double>>(std::move(numbers));
    const std::size_t n_rows = n_columns > 0 ? kept->size() / n_columns : 0;
    put(name, {Element::float64, {n_rows, n_columns}, kept->data(), kept});
}

void ArrayWriter::put(const std::string& name, ArrayView view) {
    if (!arrays_.emplace(name, std::move(view)).second) {
        throw std::logic_error("two arrays are called '" + name + "'");
    }
}

std::size_t ArrayReader::matrix(const std::string& name, Array<double>& numbers) const {
    const ArrayView& view = find(name, Element::float64, 2);
    numbers = borrow<double>(view, view.shape[0] * view.shape[1]);
    return view.shape[1];
}

const ArrayView& ArrayReader::find(const std::string& name, Element element,
                                   std::size_t n_dimensions) const {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) throw std::invalid_argument("array '" + name + "' is missing");
    const ArrayView& view = found->second;
    const bool is_right = view.element == element && view.shape.size() == n_dimensions;
    const std::string wanted = words(element) + (n_dimensions == 1 ? " numbers" : " rows");
    check_array(is_right, name, "it must hold " + wanted + ", and is " + words(view));
    return view;
}

void ArrayReader::check_width(const std::string& name, const ArrayView& view, std::size_t wanted) {
    check_array(
        view.shape[1] == wanted, name,
        "its rows must have " + std::to_string(wanted) + " bytes, and it is " + words(view));
}

void ArrayReader::check_size(const std::string& name, std::size_t size, std::size_t wanted) {
    check_array(
        size == wanted, name,
        "it must have " + std::to_string(wanted) + " elements, and has " + std::to_string(size));
}

}  // namespace fastmks
