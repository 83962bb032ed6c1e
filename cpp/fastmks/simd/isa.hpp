#pragma once

#include <string>
#include <vector>

namespace fastmks {

/// An instruction set that the loops are compiled for: a row of the table in isa.cpp. Every one of
/// them computes the same bits (docs/how-it-works/rounding.md).
enum class Isa : int { baseline = 0 };

/// The ones this build holds and this CPU runs, weakest first.
[[nodiscard]] std::vector<Isa> available_isas();

[[nodiscard]] std::string to_string(Isa isa);

}  // namespace fastmks
