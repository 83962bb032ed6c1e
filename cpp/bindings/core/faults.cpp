#include "fastmks/core/faults.hpp"
#include "bindings/bindings.hpp"

#include <exception>

namespace fastmks::bindings {
namespace {

// Makes an exception type of the module for a fault, with the fault's arguments.
template <class Fault>
void register_fault(nb::module_& m, const char* name) {
    const std::string full_name = std::string("fastmks._core.") + name;
    nb::object type =
        nb::steal(PyErr_NewException(full_name.c_str(), PyExc_ArithmeticError, nullptr));
    m.attr(name) = type;
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void* exception_type) {
            try {
                std::rethrow_exception(thrown);
            } catch (const Fault& fault) {
                const nb::tuple arguments = std::apply(
                    [](const auto&... each) { return nb::make_tuple(each...); }, fault.arguments());
                PyErr_SetObject(static_cast<PyObject*>(exception_type), arguments.ptr());
            }
        },
        type.release().ptr());
}

}  // namespace

void register_faults(nb::module_& m) {
    m.attr("itself") = itself;
    register_fault<ValueFault>(m, "ValueFault");
    register_fault<SelfValueFault>(m, "SelfValueFault");
    register_fault<MissingSelfValue>(m, "MissingSelfValue");
    register_fault<ReturnFault>(m, "ReturnFault");
    register_fault<NotMercerFault>(m, "NotMercerFault");
    register_fault<TriangleFault>(m, "TriangleFault");
    register_fault<PivotFault>(m, "PivotFault");
    register_fault<AsymmetryFault>(m, "AsymmetryFault");
    register_fault<BoundFault>(m, "BoundFault");
    register_fault<CoordinateFault>(m, "CoordinateFault");
    register_fault<DamageFault>(m, "DamageFault");
}

}  // namespace fastmks::bindings
