#include "bindings/spaces/python_space.hpp"

#include <atomic>
#include <chrono>
#include <cstring>

#include "fastmks/core/faults.hpp"
#include "fastmks/core/geometry.hpp"

namespace fastmks::bindings {
namespace {

// The number of objects in one call for self values.
constexpr std::size_t self_values_per_call = 256;
// What a value and a block must take for worker processes to be worth the messages.
constexpr double least_value_seconds = 1e-5;
constexpr double least_block_seconds = 2e-3;

nb::object checked(PyObject* made) {
    if (!made) nb::raise_python_error();
    return nb::steal(made);
}

// A borrowed attribute; absent where it is None. `calls` keeps it alive.
nb::handle part(nb::handle calls, const char* name) {
    const nb::object value = calls.attr(name);
    return value.is_none() ? nb::handle() : nb::handle(value);
}

std::size_t n_processes(nb::handle calls) {
    const nb::handle workers = part(calls, "workers");
    return workers.is_valid() ? nb::cast<std::size_t>(workers.attr("n_workers")) : 1;
}

// Positions that follow each other.
bool is_run(Selection objects) {
    if (!objects.positions) return true;
    for (std::size_t j = 1; j < objects.size; ++j) {
        if (objects[j] != objects[0] + j) return false;
    }
    return true;
}

using Clock = std::chrono::steady_clock;

// The memory of an object that shows it.
class Buffer {
public:
    explicit Buffer(nb::handle from) {
        is_open_ = PyObject_GetBuffer(from.ptr(), &view, PyBUF_STRIDES | PyBUF_FORMAT) == 0;
        if (!is_open_) PyErr_Clear();
    }
    ~Buffer() {
        if (is_open_) PyBuffer_Release(&view);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    [[nodiscard]] bool holds_doubles(std::size_t n) const {
        return is_open_ && view.ndim == 1 && view.format && std::strcmp(view.format, "d") == 0 &&
               static_cast<std::size_t>(view.shape[0]) == n;
    }
    Py_buffer view;

private:
    bool is_open_;
};

}  // namespace

PythonSpace::PythonSpace(nb::handle calls, StatedFacts stated, Isa isa)
    : Space({.size = nb::len(part(calls, "objects")),
             .isa = isa,
             .rounding = stated_rounding(stated.relative),
             .is_parallel = false,
             .symmetry = stated.is_symmetric ? Symmetry::declared : Symmetry::unknown,
             .n_processes = n_processes(calls),
             .is_expensive = true}),
      objects_(part(calls, "objects")),
      take_(part(calls, "take")),
      read_(part(calls, "read")),
      array_type_(part(calls, "array_type")),
      value_{part(calls, "value"), part(calls, "value_block")},
      bound_{part(calls, "bound"), part(calls, "bound_block")},
      self_block_(part(calls, "self_block")),
      workers_(part(calls, "workers")),
      relative_(stated.relative) {
    if (!value_.exists()) throw std::invalid_argument("a function or a block function is needed");
    using Known = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    const auto known = nb::cast<Known>(calls.attr("self_values"));
    if (known.size() != size()) throw std::invalid_argument("one self value per object");
    self_values_ = known.data();
    weak_ = checked(PyWeakref_NewRef(calls.ptr(), nullptr)).release();
}

PythonSpace::~PythonSpace() {
    if (!Py_IsInitialized()) return;
    const WithGil with_gil;
    weak_.dec_ref();
}

// The stated error is a share of K(x, x): where the value is 0, so is K(x, x), and x itself.
bool PythonSpace::is_zero(std::size_t position) const {
    return relative_ < 1.0 && self_value(position) == 0.0;
}

bool PythonSpace::accepts(const Space& queries) const noexcept {
    const auto* other = dynamic_cast<const PythonSpace*>(&queries);
    return other && other->value_ == value_ && other->bound_ == bound_;
}

void PythonSpace::evaluate(const QueryBatch& queries, Selection objects, double* out,
                           std::size_t stride) const {
    call(value_, queries, objects, out, stride);
}

void PythonSpace::bound_values(const QueryBatch& queries, Selection objects, double* out,
                               std::size_t stride) const {
    call(bound_, queries, objects, out, stride);
}

double PythonSpace::self_value(std::size_t position) const {
    const WithGil with_gil;
    const nb::object alive = held();
    // Threads of a Python without GIL may meet here: they write the same number.
    const std::atomic_ref<double> known(self_values_[position]);
    if (!std::isnan(known.load(std::memory_order_relaxed))) {
        return known.load(std::memory_order_relaxed);
    }
    if (self_block_.is_valid()) {
        call_self_block(position);
    } else {
        known.store(call_self(position), std::memory_order_relaxed);
    }
    return known.load(std::memory_order_relaxed);
}

std::size_t PythonSpace::self_evaluations(std::size_t position) const noexcept {
    const std::atomic_ref<double> known(self_values_[position]);
    if (!std::isnan(known.load(std::memory_order_relaxed))) return 0;
    return self_block_.is_valid() ? std::min(self_values_per_call, size() - position) : 1;
}

double PythonSpace::call_self(std::size_t position) const {
    const nb::object x = item(position);
    if (!value_.block.is_valid()) return number(value_.pair(x, x), position, itself);
    double value = 0.0;
    const nb::object returned = value_.block(x, items(Selection::range(position, position + 1)));
    numbers(returned, 1, position, itself, &value);
    return value;
}

void PythonSpace::call_self_block(std::size_t position) const {
    const std::size_t end = std::min(position + self_values_per_call, size());
    double values[self_values_per_call];
    const nb::object returned = self_block_(items(Selection::range(position, end)));
    numbers(returned, end - position, position, itself, values);
    for (std::size_t i = position; i < end; ++i) {
        const std::atomic_ref<double> known(self_values_[i]);
        known.store(values[i - position], std::memory_order_relaxed);
    }
}

// A strong reference to what keeps the objects and the functions alive.
nb::object PythonSpace::held() const {
    nb::object calls = checked(PyObject_CallObject(weak_.ptr(), nullptr));
    if (calls.is_none()) throw std::logic_error("the objects of this space are gone");
    return calls;
}

nb::object PythonSpace::item(std::size_t position) const {
    return checked(PySequence_GetItem(objects_.ptr(), static_cast<Py_ssize_t>(position)));
}

nb::object PythonSpace::items(Selection objects) const {
    if (is_run(objects)) {
        const auto begin = static_cast<Py_ssize_t>(objects.size > 0 ? objects[0] : 0);
        const auto end = begin + static_cast<Py_ssize_t>(objects.size);
        return checked(PySequence_GetSlice(objects_.ptr(), begin, end));
    }
    if (!take_.is_valid()) {
        nb::list picked;
        for (std::size_t j = 0; j < objects.size; ++j) picked.append(item(objects[j]));
        return picked;
    }
    const std::size_t n = objects.size;
    const nb::ndarray<nb::numpy, const std::int64_t> positions(objects.positions, {n}, nb::none());
    return take_(nb::cast(positions, nb::rv_policy::copy));
}

void PythonSpace::call(const PythonFunction& function, const QueryBatch& queries, Selection objects,
                       double* out, std::size_t stride) const {
    if (objects.size == 0 || queries.size == 0) return;
    if (!workers_.is_valid() || &function != &value_) {
        call_here(function, queries, objects, out, stride);
        return;
    }
    if (ask_workers(queries, objects, out, stride)) return;
    const auto started = Clock::now();
    call_here(function, queries, objects, out, stride);
    const std::chrono::duration<double> taken = Clock::now() - started;
    note_cost(taken.count() / static_cast<double>(queries.size * objects.size));
}

// An average that soon forgets: the first values may take longer than all others.
void PythonSpace::note_cost(double seconds) const {
    const double before = value_seconds_.load(std::memory_order_relaxed);
    value_seconds_.store(before > 0.0 ? 0.5 * (before + seconds) : seconds,
                         std::memory_order_relaxed);
}

// Whether worker processes evaluated the block: not where it is inexpensive, or they only start.
bool PythonSpace::ask_workers(const QueryBatch& queries, Selection objects, double* out,
                              std::size_t stride) const {
    const std::size_t n = queries.size * objects.size;
    const double seconds = value_seconds_.load(std::memory_order_relaxed);
    if (n < 2 || seconds < least_value_seconds) return false;
    if (seconds * static_cast<double>(n) < least_block_seconds) return false;
    WithGil with_gil;
    with_gil.let_python_end();
    const nb::object alive = held();
    const nb::object queries_alive = static_cast<const PythonSpace&>(queries.space).held();
    std::vector<std::int64_t> positions(objects.size);
    for (std::size_t j = 0; j < objects.size; ++j) {
        positions[j] = static_cast<std::int64_t>(objects[j]);
    }
    const nb::ndarray<nb::numpy, const std::int64_t> columns(positions.data(), {objects.size},
                                                             nb::none());
    const nb::object answer = workers_.attr("evaluate")(
        queries_alive, queries.begin, queries.size, alive, nb::cast(columns, nb::rv_policy::copy));
    if (answer.is_none()) return false;
    const auto [values, spent, at, problem] =
        nb::cast<std::tuple<nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>,
                            double, std::int64_t, std::string>>(nb::tuple(answer));
    if (at >= 0) {
        const auto pair = static_cast<std::size_t>(at);
        throw ReturnFault{queries.begin + pair / objects.size, objects[pair % objects.size],
                          problem};
    }
    if (values.size() != n) throw std::logic_error("workers returned another number of values");
    for (std::size_t i = 0; i < queries.size; ++i) {
        std::copy_n(values.data() + i * objects.size, objects.size, out + i * stride);
    }
    note_cost(spent / static_cast<double>(n));
    return true;
}

void PythonSpace::call_here(const PythonFunction& function, const QueryBatch& queries,
                            Selection objects, double* out, std::size_t stride) const {
    const auto& asked = static_cast<const PythonSpace&>(queries.space);
    WithGil with_gil;
    const nb::object alive = held();
    const nb::object queries_alive = asked.held();
    for (std::size_t i = 0; i < queries.size; ++i) {
        with_gil.let_python_end();
        if (PyErr_CheckSignals() != 0) nb::raise_python_error();
        const std::size_t query = queries.begin + i;
        const nb::object x = asked.item(query);
        if (function.block.is_valid()) {
            // A list of its own for each call: the function may change it.
            const nb::object returned = function.block(x, items(objects));
            numbers(returned, objects.size, query, objects[0], out + i * stride);
        } else {
            call_pairs(with_gil, function, x, query, objects, out + i * stride);
        }
    }
}

void PythonSpace::call_pairs(WithGil& with_gil, const PythonFunction& function, nb::handle x,
                             std::size_t query, Selection objects, double* out) const {
    for (std::size_t j = 0; j < objects.size; ++j) {
        with_gil.let_python_end();
        const nb::object y = item(objects[j]);
        out[j] = number(function.pair(x, y), query, objects[j]);
    }
}

double PythonSpace::number(nb::handle returned, std::size_t query, std::size_t object) const {
    if (PyFloat_Check(returned.ptr())) return PyFloat_AsDouble(returned.ptr());
    const nb::object read = read_(returned, nb::none());
    if (nb::isinstance<nb::str>(read)) {
        throw ReturnFault{query, object, nb::cast<nb::str>(read).c_str()};
    }
    return nb::cast<double>(read);
}

void PythonSpace::numbers(nb::handle returned, std::size_t n, std::size_t query, std::size_t object,
                          double* out) const {
    nb::object read = nb::borrow(returned);
    // Only plain arrays: a masked one, for example, has a buffer that does not tell all.
    if (returned.type().ptr() != array_type_.ptr() || !Buffer(returned).holds_doubles(n)) {
        read = read_(returned, n);
        if (nb::isinstance<nb::str>(read)) {
            throw ReturnFault{query, object, nb::cast<nb::str>(read).c_str()};
        }
    }
    const Buffer buffer(read);
    if (!buffer.holds_doubles(n)) throw std::logic_error("numbers were not read");
    const auto* first = static_cast<const char*>(buffer.view.buf);
    for (std::size_t j = 0; j < n; ++j) {
        std::memcpy(out + j, first + static_cast<Py_ssize_t>(j) * buffer.view.strides[0],
                    sizeof(double));
    }
}

}  // namespace fastmks::bindings
