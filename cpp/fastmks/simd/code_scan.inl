// The part of code_loops.inl that goes through codes: sums of products of bytes, with whatever unit
// the CPU has for them, and what their bounds keep. Included there, inside the namespaces.

constexpr std::size_t tile_groups = tile_size / group_size;

// The bounds of the objects of a tile, and a bit for each that is kept. A bound that is not a
// number keeps.
[[gnu::noinline]] std::uint64_t keep(const CodeBlock& block, const CodeQuery& query,
                                     std::size_t first, const std::int32_t* sums, CodeBounds& out) {
    float* upper = out.upper + first;
    const float* tails = block.tails + first;
    if (block.extras) {
        const float* extras = block.extras + first;
        for (std::size_t j = 0; j < tile_size; ++j) {
            const float score = query.scale * static_cast<float>(sums[j]) + extras[j];
            upper[j] = score + query.tail * tails[j];
        }
    } else {
        for (std::size_t j = 0; j < tile_size; ++j) {
            const float score = query.scale * static_cast<float>(sums[j]);
            upper[j] = score + query.tail * tails[j];
        }
    }
    std::uint64_t kept = 0;
    if (query.low > minus_infinity) {
        float lower[tile_size];
        for (std::size_t j = 0; j < tile_size; ++j) {
            const float score = query.scale * static_cast<float>(sums[j]);
            lower[j] = score - query.tail * tails[j];
        }
        for (std::size_t j = 0; j < tile_size; ++j) {
            const bool is_out = (upper[j] < query.high) & (lower[j] > query.low);
            kept |= static_cast<std::uint64_t>(!is_out) << j;
        }
        return kept;
    }
#if defined(FASTMKS_VNNI)
    const __m512 high = _mm512_set1_ps(query.high);
    for (std::size_t j = 0; j < tile_size; j += 16) {
        const __mmask16 is_kept = _mm512_cmp_ps_mask(_mm512_loadu_ps(upper + j), high, _CMP_NLT_UQ);
        kept |= static_cast<std::uint64_t>(is_kept) << j;
    }
#elif defined(FASTMKS_AVX2)
    const __m256 high = _mm256_set1_ps(query.high);
    for (std::size_t j = 0; j < tile_size; j += 8) {
        const int is_kept =
            _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(upper + j), high, _CMP_NLT_UQ));
        kept |= static_cast<std::uint64_t>(static_cast<unsigned>(is_kept)) << j;
    }
#else
    for (std::size_t j = 0; j < tile_size; ++j) {
        kept |= static_cast<std::uint64_t>(!(upper[j] < query.high)) << j;
    }
#endif
    return kept;
}

// A sum below which no object of a block is kept, however its bound is rounded.
inline std::int32_t least_sum(const CodeBlock& block, const CodeQuery& query) {
    constexpr std::int32_t none = -0x7fffffff - 1;
    if (block.extras || query.low > minus_infinity || !(query.scale > 0.0f)) return none;
    const double high = query.high;
    const double tails = static_cast<double>(query.tail) * block.greatest_tail;
    const double left = high - tails - 0x1p-20 * (__builtin_fabs(high) + tails);
    const double sum = left / query.scale;
    if (!(sum > -1e9 && sum < 1e9)) return none;
    return static_cast<std::int32_t>(sum - 0x1p-20 * __builtin_fabs(sum)) - 2;
}

#if defined(FASTMKS_VNNI)

// Four registers by name: in an array of arrays the compiler keeps some of them in memory.
struct Four {
    __m512i a, b, c, d;
};

[[gnu::always_inline]] inline __m512i load(const CodeLine& line) {
    return _mm512_load_si512(line.bytes);
}

[[gnu::always_inline]] inline Four four_of(std::int32_t number) {
    const __m512i all = _mm512_set1_epi32(number);
    return {all, all, all, all};
}

// _mm512_dpbusd_epi32, which GCC 12 surrounds with copies of registers that take a third of the
// time.
[[gnu::always_inline]] inline void add_products(__m512i& total, __m512i objects, __m512i query) {
    asm("vpdpbusd %2, %1, %0" : "+v"(total) : "v"(objects), "v"(query));
}

[[gnu::always_inline]] inline void add_word(Four& total, const Four& objects, std::int32_t word) {
    const __m512i query = _mm512_set1_epi32(word);
    add_products(total.a, objects.a, query);
    add_products(total.b, objects.b, query);
    add_products(total.c, objects.c, query);
    add_products(total.d, objects.d, query);
}

// The sums of one query with a group, front to back: codes of one query come from memory, and
// memory access is faster than with four groups side by side.
[[gnu::always_inline]] inline __m512i add_up_alone(const CodeLine* codes, std::size_t n_words,
                                                   const CodeQuery& query) {
    Four sums = four_of(0);
    std::size_t w = 0;
    for (; w + 4 <= n_words; w += 4) {
        add_products(sums.a, load(codes[w]), _mm512_set1_epi32(query.words[w]));
        add_products(sums.b, load(codes[w + 1]), _mm512_set1_epi32(query.words[w + 1]));
        add_products(sums.c, load(codes[w + 2]), _mm512_set1_epi32(query.words[w + 2]));
        add_products(sums.d, load(codes[w + 3]), _mm512_set1_epi32(query.words[w + 3]));
    }
    for (; w < n_words; ++w) {
        add_products(sums.a, load(codes[w]), _mm512_set1_epi32(query.words[w]));
    }
    return _mm512_add_epi32(
        _mm512_add_epi32(_mm512_set1_epi32(-query.bias), _mm512_add_epi32(sums.a, sums.b)),
        _mm512_add_epi32(sums.c, sums.d));
}

// The bits of a tile, unless no sum is at least `least`: then none is kept, and no bound written.
[[gnu::always_inline]] inline std::uint64_t keep_some(const CodeBlock& block,
                                                      const CodeQuery& query, std::int32_t least,
                                                      std::size_t first, const Four& total,
                                                      CodeBounds& out) {
    const __m512i all = _mm512_set1_epi32(least);
    if ((_mm512_cmpge_epi32_mask(total.a, all) | _mm512_cmpge_epi32_mask(total.b, all) |
         _mm512_cmpge_epi32_mask(total.c, all) | _mm512_cmpge_epi32_mask(total.d, all)) == 0) {
        return 0;
    }
    alignas(64) std::int32_t sums[tile_size];
    _mm512_store_si512(sums, total.a);
    _mm512_store_si512(sums + 16, total.b);
    _mm512_store_si512(sums + 32, total.c);
    _mm512_store_si512(sums + 48, total.d);
    return keep(block, query, first, sums, out);
}

// A tile of objects for each query, without leaving the registers where none is kept.
template <std::size_t Queries>
void scan_tile(const CodeBlock& block, std::size_t tile, const CodeQuery* queries,
               const std::int32_t* least, CodeBounds* out) {
    const std::size_t n_words = block.n_words;
    const CodeLine* codes = block.codes + tile * tile_groups * n_words;
    Four total0;
    [[maybe_unused]] Four total1, total2, total3;
    if constexpr (Queries == 1) {
        total0 = {add_up_alone(codes, n_words, queries[0]),
                  add_up_alone(codes + n_words, n_words, queries[0]),
                  add_up_alone(codes + 2 * n_words, n_words, queries[0]),
                  add_up_alone(codes + 3 * n_words, n_words, queries[0])};
    } else {
        total0 = four_of(-queries[0].bias);
        total1 = four_of(-queries[1].bias);
        if constexpr (Queries > 2) total2 = four_of(-queries[2].bias);
        if constexpr (Queries > 3) total3 = four_of(-queries[3].bias);
        for (std::size_t w = 0; w < n_words; ++w, ++codes) {
            const Four objects{load(codes[0]), load(codes[n_words]), load(codes[2 * n_words]),
                               load(codes[3 * n_words])};
            add_word(total0, objects, queries[0].words[w]);
            add_word(total1, objects, queries[1].words[w]);
            if constexpr (Queries > 2) add_word(total2, objects, queries[2].words[w]);
            if constexpr (Queries > 3) add_word(total3, objects, queries[3].words[w]);
        }
    }
    const std::size_t first = tile * tile_size;
    out[0].kept[tile] = keep_some(block, queries[0], least[0], first, total0, out[0]);
    if constexpr (Queries > 1) {
        out[1].kept[tile] = keep_some(block, queries[1], least[1], first, total1, out[1]);
    }
    if constexpr (Queries > 2) {
        out[2].kept[tile] = keep_some(block, queries[2], least[2], first, total2, out[2]);
    }
    if constexpr (Queries > 3) {
        out[3].kept[tile] = keep_some(block, queries[3], least[3], first, total3, out[3]);
    }
}

#else

// The sums of products of a tile with each query, as whole numbers, less the query's bias.
#if defined(FASTMKS_AVX2)

// Bytes become pairs of 16-bit numbers: the even ones and the odd ones of each word.
template <std::size_t Queries>
[[gnu::always_inline]] inline void add_up(const CodeBlock& block, std::size_t first_group,
                                          const CodeQuery* queries,
                                          std::int32_t (*sums)[tile_size]) {
    const __m256i low_bytes = _mm256_set1_epi16(0xff);
    for (std::size_t half = 0; half < 2 * tile_groups; ++half) {
        const CodeLine* codes = block.codes + (first_group + half / 2) * block.n_words;
        __m256i total[Queries];
        for (std::size_t i = 0; i < Queries; ++i) total[i] = _mm256_set1_epi32(-queries[i].bias);
        for (std::size_t w = 0; w < block.n_words; ++w) {
            const __m256i both =
                _mm256_load_si256(reinterpret_cast<const __m256i*>(codes[w].bytes + half % 2 * 32));
            const __m256i even = _mm256_and_si256(both, low_bytes);
            const __m256i odd = _mm256_srli_epi16(both, 8);
            for (std::size_t i = 0; i < Queries; ++i) {
                const __m256i word = _mm256_set1_epi32(queries[i].words[w]);
                const __m256i query_even = _mm256_srai_epi16(_mm256_slli_epi16(word, 8), 8);
                const __m256i query_odd = _mm256_srai_epi16(word, 8);
                total[i] =
                    _mm256_add_epi32(total[i], _mm256_add_epi32(_mm256_madd_epi16(even, query_even),
                                                                _mm256_madd_epi16(odd, query_odd)));
            }
        }
        for (std::size_t i = 0; i < Queries; ++i) {
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums[i] + half * 8), total[i]);
        }
    }
}

#elif defined(FASTMKS_DOTPROD)

// Codes as signed bytes, which need no bias.
template <std::size_t Queries>
[[gnu::always_inline]] inline void add_up(const CodeBlock& block, std::size_t first_group,
                                          const CodeQuery* queries,
                                          std::int32_t (*sums)[tile_size]) {
    constexpr std::size_t n_quads = 4;  // of objects, in a group
    const uint8x16_t top_bit = vdupq_n_u8(0x80);
    for (std::size_t g = 0; g < tile_groups; ++g) {
        const CodeLine* codes = block.codes + (first_group + g) * block.n_words;
        int32x4_t total[Queries][n_quads];
        for (std::size_t i = 0; i < Queries; ++i) {
            for (int32x4_t& sum : total[i]) sum = vdupq_n_s32(0);
        }
        for (std::size_t w = 0; w < block.n_words; ++w) {
            int8x16_t objects[n_quads];
            for (std::size_t j = 0; j < n_quads; ++j) {
                objects[j] =
                    vreinterpretq_s8_u8(veorq_u8(vld1q_u8(codes[w].bytes + 16 * j), top_bit));
            }
            for (std::size_t i = 0; i < Queries; ++i) {
                const int8x16_t query = vreinterpretq_s8_s32(vdupq_n_s32(queries[i].words[w]));
                for (std::size_t j = 0; j < n_quads; ++j) {
                    total[i][j] = vdotq_s32(total[i][j], objects[j], query);
                }
            }
        }
        for (std::size_t i = 0; i < Queries; ++i) {
            for (std::size_t j = 0; j < n_quads; ++j) {
                vst1q_s32(sums[i] + g * group_size + 4 * j, total[i][j]);
            }
        }
    }
}

#else

template <std::size_t Queries>
[[gnu::always_inline]] inline void add_up(const CodeBlock& block, std::size_t first_group,
                                          const CodeQuery* queries,
                                          std::int32_t (*sums)[tile_size]) {
    for (std::size_t g = 0; g < tile_groups; ++g) {
        const CodeLine* codes = block.codes + (first_group + g) * block.n_words;
        for (std::size_t i = 0; i < Queries; ++i) {
            std::int32_t total[group_size];
            for (std::int32_t& sum : total) sum = -queries[i].bias;
            for (std::size_t w = 0; w < block.n_words; ++w) {
                const std::int32_t word = queries[i].words[w];
                const std::int32_t v[bytes_per_word] = {
                    static_cast<std::int8_t>(word), static_cast<std::int8_t>(word >> 8),
                    static_cast<std::int8_t>(word >> 16), static_cast<std::int8_t>(word >> 24)};
                const std::uint8_t* u = codes[w].bytes;
                for (std::size_t l = 0; l < group_size; ++l) {
                    total[l] += u[4 * l] * v[0] + u[4 * l + 1] * v[1] + u[4 * l + 2] * v[2] +
                                u[4 * l + 3] * v[3];
                }
            }
            for (std::size_t l = 0; l < group_size; ++l) sums[i][g * group_size + l] = total[l];
        }
    }
}

#endif

template <std::size_t Queries>
void scan_tile(const CodeBlock& block, std::size_t tile, const CodeQuery* queries,
               const std::int32_t* least, CodeBounds* out) {
    std::int32_t sums[Queries][tile_size];
    add_up<Queries>(block, tile * tile_groups, queries, sums);
    for (std::size_t i = 0; i < Queries; ++i) {
        std::int32_t greatest = sums[i][0];
        for (const std::int32_t sum : sums[i]) greatest = sum > greatest ? sum : greatest;
        out[i].kept[tile] =
            greatest < least[i] ? 0 : keep(block, queries[i], tile * tile_size, sums[i], out[i]);
    }
}

#endif

#if defined(FASTMKS_AMX)

constexpr std::size_t block_queries = 16;  // the rows of a tile register
constexpr std::size_t most_chunks = 64;    // of 16 words: 4096 coordinates

// Registers 0 to 3 hold sums, 4 queries, 5 to 7 objects.
struct alignas(64) TileShapes {
    std::uint8_t palette = 1;
    std::uint8_t start_row = 0;
    std::uint8_t reserved[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t n_rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// The words of up to 16 queries, zeros after them and below.
struct alignas(64) QueryBlock {
    std::int32_t words[most_chunks][block_queries][16];
};

inline void pack(const CodeQuery* queries, std::size_t n_queries, std::size_t n_words,
                 QueryBlock& out) {
    for (std::size_t w = 0; w < n_words; w += 16) {
        const std::size_t n = n_words - w < 16 ? n_words - w : 16;
        const auto mask = static_cast<__mmask16>((1u << n) - 1);
        for (std::size_t i = 0; i < block_queries; ++i) {
            const __m512i words = i < n_queries
                                      ? _mm512_maskz_loadu_epi32(mask, queries[i].words + w)
                                      : _mm512_setzero_si512();
            _mm512_store_si512(out.words[w / 16][i], words);
        }
    }
}

// A tile of objects for up to 16 queries. After the words of a group come those of the next one,
// and after the last as many zeros as are read: the queries have zeros there.
inline void scan_block(const CodeBlock& block, std::size_t tile, const QueryBlock& packed,
                       const CodeQuery* queries, std::size_t n_queries, const std::int32_t* least,
                       CodeBounds* out) {
    const std::size_t n_words = block.n_words;
    const CodeLine* codes = block.codes + tile * tile_groups * n_words;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (std::size_t w = 0; w < n_words; w += 16, codes += 16) {
        _tile_loadd(4, packed.words[w / 16], 64);
        _tile_loadd(5, codes, 64);
        _tile_loadd(6, codes + n_words, 64);
        _tile_loadd(7, codes + 2 * n_words, 64);
        _tile_dpbsud(0, 4, 5);
        _tile_loadd(5, codes + 3 * n_words, 64);
        _tile_dpbsud(1, 4, 6);
        _tile_dpbsud(2, 4, 7);
        _tile_dpbsud(3, 4, 5);
    }
    alignas(64) std::int32_t sums[block_queries][tile_size];
    _tile_stored(0, sums[0], sizeof(sums[0]));
    _tile_stored(1, sums[0] + 16, sizeof(sums[0]));
    _tile_stored(2, sums[0] + 32, sizeof(sums[0]));
    _tile_stored(3, sums[0] + 48, sizeof(sums[0]));
    for (std::size_t i = 0; i < n_queries; ++i) {
        const __m512i bias = _mm512_set1_epi32(queries[i].bias);
        const Four total{_mm512_sub_epi32(_mm512_load_si512(sums[i]), bias),
                         _mm512_sub_epi32(_mm512_load_si512(sums[i] + 16), bias),
                         _mm512_sub_epi32(_mm512_load_si512(sums[i] + 32), bias),
                         _mm512_sub_epi32(_mm512_load_si512(sums[i] + 48), bias)};
        out[i].kept[tile] = keep_some(block, queries[i], least[i], tile * tile_size, total, out[i]);
    }
}

#endif

void scan(const CodeBlock& block, const CodeQuery* queries, std::size_t n_queries,
          CodeBounds* out) {
    std::int32_t least[most_queries];
    for (std::size_t i = 0; i < n_queries; ++i) least[i] = least_sum(block, queries[i]);
    std::size_t n_done = 0;
#if defined(FASTMKS_AMX)
    const bool fits = block.n_words <= 16 * most_chunks;
    if (fits && n_queries > 4) {
        const TileShapes shapes;
        _tile_loadconfig(&shapes);
        QueryBlock packed;
        for (; n_done + 4 < n_queries; n_done += block_queries) {
            const std::size_t n_left = n_queries - n_done;
            const std::size_t n = n_left < block_queries ? n_left : block_queries;
            pack(queries + n_done, n, block.n_words, packed);
            asm volatile("" ::: "memory");  // the compiler does not see that tiles are loaded
            for (std::size_t tile = 0; tile < block.n_tiles; ++tile) {
                scan_block(block, tile, packed, queries + n_done, n, least + n_done, out + n_done);
            }
        }
        _tile_release();
        if (n_done >= n_queries) return;
    }
#endif
    queries += n_done;
    out += n_done;
    n_queries -= n_done;
    // Each call prefetches its share of the next tile, whose codes are not in the cache yet.
    const std::size_t n_lines = block.n_words * tile_groups;
    const std::size_t share = n_queries > 4 ? 4 * n_lines / n_queries + 1 : 0;
    for (std::size_t tile = 0; tile < block.n_tiles; ++tile) {
        const CodeLine* next = block.codes + (tile + 1) * n_lines;
        in_fours(n_queries, [&](auto count, std::size_t i) {
            for (std::size_t line = 0; line < share; ++line) __builtin_prefetch(next++);
            scan_tile<count.value>(block, tile, queries + i, least + n_done + i, out + i);
        });
    }
}
