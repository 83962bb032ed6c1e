#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "fastmks/core/array.hpp"

/// The parts of built structures, as arrays with names: how they are written to a file and read
/// again. A structure lists its parts once, in a `describe(self, visit)` that an ArrayWriter and an
/// ArrayReader both go through. Arrays read may be damaged or forged: a structure is restored only
/// after everything that steers memory access, a loop or a conversion has been checked. Figures
/// that are merely wrong are not detected.
namespace fastmks {

/// The type of an array's elements, little-endian. A structure without padding is a row of bytes.
enum class Element { uint8, int32, uint32, int64, uint64, float32, float64 };

/// An array of one or two dimensions, rows one after the other.
struct ArrayView {
    Element element;
    std::vector<std::size_t> shape;
    const void* data;
    /// Keeps the data alive; null where it belongs to the structure described.
    std::shared_ptr<const void> owner;
};

using Arrays = std::map<std::string, ArrayView, std::less<>>;

template <class T>
[[nodiscard]] constexpr Element element_of() {
    if constexpr (std::is_same_v<T, std::int32_t>) return Element::int32;
    if constexpr (std::is_same_v<T, std::uint32_t>) return Element::uint32;
    if constexpr (std::is_same_v<T, std::int64_t>) return Element::int64;
    if constexpr (std::is_same_v<T, std::uint64_t>) return Element::uint64;
    if constexpr (std::is_same_v<T, float>) return Element::float32;
    if constexpr (std::is_same_v<T, double>) return Element::float64;
    return Element::uint8;
}

/// Throws std::invalid_argument that names an array and says what is wrong with it.
[[noreturn]] void refuse_array(std::string_view name, std::string_view fault);
/// Throws likewise unless the array `is_right`.
inline void check_array(bool is_right, std::string_view name, std::string_view fault) {
    if (!is_right) refuse_array(name, fault);
}

/// Gathers what a structure lists.
class ArrayWriter {
public:
    template <class T>
    void operator()(const std::string& name, const Array<T>& array) {
        put(name, {element_of<T>(), shape_of<T>(array.size()), array.data(), nullptr});
    }
    /// Numbers that are copied.
    template <class T>
    void numbers(const std::string& name, std::vector<T> numbers) {
        keep(name, std::move(numbers));
    }
    /// Rows of n_columns numbers, likewise.
    void matrix(const std::string& name, std::vector<double> numbers, std::size_t n_columns);
    /// Whole numbers, in an array of their own.
    template <class... T>
    void counts(const std::string& name, const T&... numbers) {
        keep(name, std::vector<std::int64_t>{static_cast<std::int64_t>(numbers)...});
    }
    /// Other numbers likewise.
    template <class... T>
    void figures(const std::string& name, const T&... numbers) {
        keep(name, std::vector<double>{numbers...});
    }
    [[nodiscard]] Arrays take() { return std::move(arrays_); }

private:
    template <class T>
    static std::vector<std::size_t> shape_of(std::size_t n) {
        return std::is_arithmetic_v<T> ? std::vector{n} : std::vector{n, sizeof(T)};
    }
    template <class T>
    void keep(const std::string& name, std::vector<T> numbers) {
        auto kept = std::make_shared<const std::vector<T>>(std::move(numbers));
        put(name, {element_of<T>(), {kept->size()}, kept->data(), kept});
    }
    void put(const std::string& name, ArrayView view);

    Arrays arrays_;
};

/// Fills in what a structure lists, without copying unless the alignment asks for it. Every member
/// throws std::invalid_argument that names the array which is missing or not of the right kind.
class ArrayReader {
public:
    explicit ArrayReader(const Arrays& arrays) : arrays_(arrays) {}

    template <class T>
    void operator()(const std::string& name, Array<T>& array) const {
        const ArrayView& view = find(name, element_of<T>(), std::is_arithmetic_v<T> ? 1 : 2);
        if constexpr (!std::is_arithmetic_v<T>) check_width(name, view, sizeof(T));
        array = borrow<T>(view, view.shape[0]);
    }
    /// Rows of numbers; returns how many each has.
    std::size_t matrix(const std::string& name, Array<double>& numbers) const;
    template <class... T>
    void counts(const std::string& name, T&... numbers) const {
        Array<std::int64_t> read;
        (*this)(name, read);
        check_size(name, read.size(), sizeof...(T));
        std::size_t i = 0;
        (set_count(name, read[i++], numbers), ...);
    }
    template <class... T>
    void figures(const std::string& name, T&... numbers) const {
        Array<double> read;
        (*this)(name, read);
        check_size(name, read.size(), sizeof...(T));
        std::size_t i = 0;
        ((numbers = read[i++]), ...);
    }

    /// Throws unless the size of an array is the wanted one.
    static void check_size(const std::string& name, std::size_t size, std::size_t wanted);

private:
    [[nodiscard]] const ArrayView& find(const std::string& name, Element element,
                                        std::size_t n_dimensions) const;
    static void check_width(const std::string& name, const ArrayView& view, std::size_t wanted);

    template <class T>
    static Array<T> borrow(const ArrayView& view, std::size_t n) {
        if (n == 0) return {};
        if (reinterpret_cast<std::uintptr_t>(view.data) % alignof(T) == 0) {
            return {static_cast<const T*>(view.data), n, view.owner};
        }
        return Array<T>(copy<T>(view.data, n));
    }
    template <class T>
    static std::vector<T> copy(const void* data, std::size_t n);

    template <class T>
    static void set_count(const std::string& name, std::int64_t read, T& number) {
        if constexpr (std::is_same_v<T, bool>) {
            check_array(read == 0 || read == 1, name, "a fact must be 0 or 1");
            number = read == 1;
        } else {
            check_array(std::in_range<T>(read), name, "a count is out of range");
            number = static_cast<T>(read);
        }
    }

    const Arrays& arrays_;
};

template <class T>
std::vector<T> ArrayReader::copy(const void* data, std::size_t n) {
    std::vector<T> copied(n);
    const auto* const from = static_cast<const unsigned char*>(data);
    std::copy(from, from + n * sizeof(T), reinterpret_cast<unsigned char*>(copied.data()));
    return copied;
}

/// Throws unless every number is finite.
template <class T>
void check_finite(const std::string& name, const Array<T>& numbers) {
    bool is_right = true;
    for (const T x : numbers) is_right &= std::abs(x) <= std::numeric_limits<T>::max();
    check_array(is_right, name, "every number must be finite");
}

/// Throws unless every number may be a length: finite and not negative.
template <class T>
void check_lengths(const std::string& name, const Array<T>& lengths) {
    bool is_right = true;
    for (const T x : lengths) is_right &= (x >= T{0}) & (x <= std::numeric_limits<T>::max());
    check_array(is_right, name, "every length must be finite and not negative");
}
void check_length(const std::string& name, double length);

/// Throws unless every number may be a length, perhaps infinite.
template <class T>
void check_any_lengths(const std::string& name, const Array<T>& lengths) {
    bool is_right = true;
    for (const T x : lengths) is_right &= x >= T{0};
    check_array(is_right, name, "every length must be a number and not negative");
}

/// Throws unless 2^exponent can be the unit of lengths.
void check_exponent(const std::string& name, std::int64_t exponent);

/// Throws unless each of 0 ... n - 1 occurs exactly once among the first n.
template <class T>
void check_permutation(const std::string& name, const Array<T>& numbers, std::size_t n) {
    std::vector<bool> is_seen(n);
    for (std::size_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(numbers[i]);
        const bool is_new = at < n && !is_seen[at];
        check_array(is_new, name, "every position must be there exactly once");
        is_seen[at] = true;
    }
}

}  // namespace fastmks
