// The loops over values: affine, power, exponential, tanh, square root, normalise, and the tests.

#include "fastmks/simd/loops.hpp"
#include "tests/support/testing.hpp"

namespace {

using Loop = std::function<void(const VectorLoops&, double*, std::size_t)>;

std::vector<double> apply(const Loop& loop, Isa isa, std::vector<double> values) {
    loop(loops_for(isa).vectors, values.data(), values.size());
    return values;
}

// Every instruction set, and every way of cutting the values into pieces, gives the bits of `want`.
void check_bits(const Loop& loop, const std::vector<double>& values,
                const std::vector<double>& want) {
    for (const Isa isa : available_isas()) {
        const check::Context here(to_string(isa));
        CHECK(same_bits(apply(loop, isa, values), want));
        std::vector<double> pieces = values;
        for (std::size_t at = 0, n = 1; at < pieces.size(); at += n, n = n % 131 + 1) {
            loop(loops_for(isa).vectors, pieces.data() + at, std::min(n, pieces.size() - at));
        }
        CHECK(same_bits(pieces, want));
    }
}

const Loop exponential = [](const VectorLoops& loops, double* values, std::size_t n) {
    loops.exponential(values, n);
};
const Loop hyperbolic_tangent = [](const VectorLoops& loops, double* values, std::size_t n) {
    loops.hyperbolic_tangent(values, n);
};

std::vector<double> sweep(double from, double to, std::size_t n) {
    std::vector<double> values;
    Draw draw(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double step = (to - from) / static_cast<double>(n);
        values.push_back(from + step * (static_cast<double>(i) + 0.5 * (draw.unit() + 1.0)));
    }
    return values;
}

// A loop and the function it computes to within some units of the last place.
struct Function {
    const Loop& loop;
    long double (*exact)(long double);
    double ulps;
};

// Results are finite: `ulps` says nothing about infinity.
void check_accuracy(const Function& function, const std::vector<double>& values) {
    const auto results = apply(function.loop, Isa::baseline, values);
    check_bits(function.loop, values, results);
    if (!has_reference) return;
    double worst = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        worst = std::max(worst, ulps_off(results[i], function.exact(values[i])));
    }
    const check::Context here("worst: " + std::to_string(worst) + " ulps");
    CHECK(worst <= function.ulps);
}

// Of every size below 1, subnormal ones included.
std::vector<double> tiny_values() {
    Draw draw(1);
    std::vector<double> values;
    while (values.size() < 5000) {
        const double value = draw.unit();
        values.push_back(std::ldexp(value, -static_cast<int>(draw.below(1075))));
    }
    return values;
}

double one(const Loop& loop, Isa isa, double value) {
    return apply(loop, isa, {value}).front();
}

std::vector<double> some_values() {
    std::vector<double> values{0.0,     -0.0,      1.0,    -1.0,      5e-324,
                               -5e-324, 1e308,     -1e308, 0x1p-1022, infinity,
                               -2.5,    -infinity, 0x1p52, 0x1.8p-30, -0x1p-1030};
    Draw draw(8);
    while (values.size() < 400) values.push_back(draw.wide(values.size() % 2 == 0 ? 2 : 300));
    return values;
}

// x^degree: the squarings of x whose bit is set in `degree`, lowest first.
double repeated_squaring(double x, unsigned degree) {
    std::vector<double> squarings{x};
    for (unsigned bit = 1; bit < 32; ++bit)
        squarings.push_back(squarings.back() * squarings.back());
    double result = 1.0;
    for (unsigned bit = 0; bit < 32; ++bit) {
        if ((degree >> bit & 1u) != 0) result *= squarings[bit];
    }
    return result;
}

}  // namespace

TEST(affine_rounds_twice) {
    const auto values = some_values();
    for (const auto& [scale, offset] :
         {std::pair{1.0, 0.0}, {0x1.23456789abcdep3, -1.1}, {-3e-7, 2.0}}) {
        std::vector<double> want;
        for (const double x : values) {
            const volatile double product = x * scale;  // no fused multiply-add
            want.push_back(product + offset);
        }
        check_bits(
            [scale = scale, offset = offset](const VectorLoops& loops, double* v, std::size_t n) {
                loops.affine(v, n, scale, offset);
            },
            values, want);
    }
}

TEST(power_multiplies_in_one_order) {
    const auto values = some_values();
    for (const unsigned degree : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u, 10u, 15u, 31u, 32u, 100u, 1023u,
                                  0x80000000u, 0xffffffffu}) {
        const check::Context here(text("degree", degree));
        std::vector<double> want;
        for (const double x : values) want.push_back(repeated_squaring(x, degree));
        check_bits(
            [=](const VectorLoops& loops, double* v, std::size_t n) { loops.power(v, n, degree); },
            values, want);
    }
}

TEST(power_is_accurate) {
    if (!has_reference) return;
    for (const double x : {1.0000001, -1.7, 0.3, 2.9}) {
        for (unsigned degree = 0; degree <= 100; ++degree) {
            std::vector<double> value{x};
            loops_for(Isa::baseline).vectors.power(value.data(), 1, degree);
            const long double exact =
                std::pow(static_cast<long double>(x), static_cast<int>(degree));
            CHECK(ulps_off(value[0], exact) <= degree + 0.5);
        }
    }
}

TEST(exponential_is_accurate) {
    const Function exact{exponential, [](long double x) { return std::exp(x); }, 1.0};
    check_accuracy(exact, sweep(-746.0, 709.78, 100000));
    check_accuracy(exact, sweep(-1.0, 1.0, 50000));
    check_accuracy(exact, sweep(-746.0, -707.0, 20000));  // subnormal results
    check_accuracy(exact, sweep(709.0, 709.782712893383, 5000));
    std::vector<double> midway;  // between two multiples of ln 2, where the remainder is largest
    for (int k = -1074; k < 1023; ++k) {
        for (const double nudge : {-1e-13, 0.0, 1e-13}) {
            midway.push_back((k + 0.5) * 0.6931471805599453 + nudge);
        }
    }
    check_accuracy(exact, midway);
    check_accuracy(exact, tiny_values());
}

TEST(exponential_has_exact_ends) {
    for (const Isa isa : available_isas()) {
        const check::Context here(to_string(isa));
        CHECK(same_bits(one(exponential, isa, 0.0), 1.0));
        CHECK(same_bits(one(exponential, isa, -0.0), 1.0));
        CHECK(std::isfinite(one(exponential, isa, 709.782712893384)));
        for (const double x : {709.782712893385, 710.0, 710.5, 1e4, 1e300, infinity}) {
            CHECK(one(exponential, isa, x) == infinity);
        }
        CHECK(one(exponential, isa, -745.1332) == 5e-324);
        for (const double x : {-745.1333, -746.0, -746.5, -1e4, -1e300, -infinity}) {
            CHECK(same_bits(one(exponential, isa, x), 0.0));
        }
        CHECK(std::isnan(one(exponential, isa, not_a_number)));
        CHECK(std::isnan(one(exponential, isa, -not_a_number)));
    }
}

TEST(hyperbolic_tangent_is_accurate) {
    // 2.54 is the worst seen among 80 million draws, near 0.2.
    const Function exact{hyperbolic_tangent, [](long double x) { return std::tanh(x); }, 3.0};
    check_accuracy(exact, sweep(-25.0, 25.0, 100000));
    check_accuracy(exact, sweep(-1.5, 1.5, 100000));
    check_accuracy(exact, sweep(-0.2, 0.2, 50000));
    check_accuracy(exact, tiny_values());
}

TEST(hyperbolic_tangent_is_odd_and_has_exact_ends) {
    for (const Isa isa : available_isas()) {
        const check::Context here(to_string(isa));
        for (const double x : {0.0, 5e-324, 0x1p-1022, 0x1p-600}) {
            CHECK(same_bits(one(hyperbolic_tangent, isa, x), x));
        }
        for (const double x : {19.1, 20.0, 21.0, 400.0, 1e300, infinity}) {
            CHECK(one(hyperbolic_tangent, isa, x) == 1.0);
        }
        for (const double x : sweep(0.0, 30.0, 1000)) {
            CHECK(same_bits(one(hyperbolic_tangent, isa, -x), -one(hyperbolic_tangent, isa, x)));
        }
        CHECK(same_bits(one(hyperbolic_tangent, isa, -0.0), -0.0));
        CHECK(one(hyperbolic_tangent, isa, -infinity) == -1.0);
        CHECK(std::isnan(one(hyperbolic_tangent, isa, not_a_number)));
    }
}

TEST(square_root_is_correctly_rounded) {
    auto values = some_values();
    values.push_back(not_a_number);
    std::vector<double> want;
    for (const double x : values) want.push_back(std::sqrt(x));
    check_bits([](const VectorLoops& loops, double* v, std::size_t n) { loops.square_root(v, n); },
               values, want);
}

TEST(normalize_divides_and_cuts) {
    Draw draw(4);
    std::vector<double> values, mantissas, scales;
    for (int i = 0; i < 300; ++i) {
        values.push_back(draw.wide(12));
        mantissas.push_back(i % 10 == 9 ? infinity : 2.5 + 1.5 * draw.unit());
        scales.push_back(std::ldexp(1.0, draw.exponent(8)));
    }
    for (const QueryNorm query :
         {QueryNorm{1.0, 1.0}, QueryNorm{3.99, 0.25}, QueryNorm{infinity, 1.0}}) {
        for (const double limit : {1.0, infinity}) {
            std::vector<double> want;
            for (std::size_t i = 0; i < values.size(); ++i) {
                const double exact =
                    values[i] * query.scale * scales[i] / std::sqrt(query.mantissa * mantissas[i]);
                want.push_back(std::min(limit, std::max(-limit, exact)) + 0.0);  // never -0
            }
            for (const Isa isa : available_isas()) {
                const check::Context here(to_string(isa));
                for (const std::size_t n : {std::size_t{1}, std::size_t{7}, values.size()}) {
                    std::vector<double> got = values;
                    loops_for(isa).vectors.normalize(got.data(), n, query, mantissas.data(),
                                                     scales.data(), limit);
                    std::vector<double> expected = values;
                    std::copy_n(want.begin(), n, expected.begin());
                    CHECK(same_bits(got, expected));
                }
            }
        }
    }
}

TEST(all_finite_finds_one_bad_value_anywhere) {
    for (const Isa isa : available_isas()) {
        const auto all_finite = loops_for(isa).vectors.all_finite;
        for (std::size_t n = 0; n <= 70; ++n) {
            const check::Context here(to_string(isa) + text(", values", n));
            std::vector<double> values(n, -1.7976931348623157e308);
            CHECK(all_finite(values.data(), n));
            for (std::size_t at = 0; at < n; ++at) {
                for (const double bad : {infinity, -infinity, not_a_number, -not_a_number}) {
                    values[at] = bad;
                    CHECK(!all_finite(values.data(), n));
                    CHECK(all_finite(values.data(), at));
                }
                values[at] = 5e-324;
            }
        }
    }
}

TEST(count_above_is_strict) {
    Draw draw(6);
    std::vector<double> values{0.0, -0.0, infinity, -infinity, not_a_number, 5e-324, -5e-324};
    while (values.size() < 300) values.push_back(static_cast<double>(draw.below(7)) - 3.0);
    for (const Isa isa : available_isas()) {
        for (const double threshold :
             {0.0, -0.0, 1.0, -3.0, 3.0, infinity, -infinity, not_a_number}) {
            std::size_t want = 0;
            for (std::size_t n = 0; n <= values.size(); ++n) {
                CHECK(loops_for(isa).vectors.count_above(values.data(), n, threshold) == want);
                if (n < values.size() && values[n] > threshold) ++want;
            }
        }
    }
}
