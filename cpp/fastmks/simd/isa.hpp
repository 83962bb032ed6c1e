#pragma once

#include <string>
#include <vector>

namespace fastmks {

/// Instruction sets the vector loops are built for, weakest first. `baseline` is SSE2 on x86-64 and
/// NEON on arm64; `dotprod` adds to the latter sums of products of bytes, `amx` to avx512 those of
/// whole tiles. Every one of them computes the same bits (docs/how-it-works/numerics.md).
enum class Isa { baseline, dotprod, avx2, avx512, amx };

/// The ones this build holds and this CPU runs, weakest first.
[[nodiscard]] std::vector<Isa> available_isas();

[[nodiscard]] std::string to_string(Isa isa);

}  // namespace fastmks
