#pragma once

#include <string>
#include <vector>

namespace fastmks {

/// Instruction sets the vector loops are built for, weakest first. `baseline` is SSE2 on x86-64 and
/// NEON on arm64. Every one of them computes the same bits (docs/numerics.md).
enum class Isa { baseline, avx2, avx512 };

/// The ones this build holds and this CPU runs, weakest first.
[[nodiscard]] std::vector<Isa> available_isas();

[[nodiscard]] std::string to_string(Isa isa);

}  // namespace fastmks
