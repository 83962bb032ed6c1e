#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "fastmks/filters/codes.hpp"
#include "fastmks/filters/codes_query.hpp"

namespace fastmks::coded {

// Puts queries into the units and codes of a table, and says how far their bounds may be off.
class QueryCoder {
public:
    QueryCoder(const Space& objects, const CodeTable& table, const CodeLoops& loops)
        : objects_(objects),
          table_(table),
          loops_(loops),
          is_distance_(table.projection().is_distance()) {}

    // Puts row i of the coordinates into a query.
    void place(const Coordinates& coordinates, std::size_t i, Query& query) {
        const std::size_t dimension = table_.dimension();
        const int exponent = coordinates.exponents[i];
        // Distances need the unit of the objects; products may have one for each query.
        const int moved = is_distance_ ? exponent - table_.exponent() : 0;
        const double unit = std::ldexp(1.0, std::clamp(moved, -1000, 1000));
        query.shift = is_distance_ ? 2 * table_.exponent() : table_.exponent() + exponent;
        query.unit = std::ldexp(1.0, -query.shift);
        query.norm = coordinates.norms[i] * unit * float32_up;
        query.tail = coordinates.tails[i] * unit * float32_up;
        query.least_tail = coordinates.least_tails[i] * unit * (2 - float32_up);
        query.error = coordinates.errors[i] * unit + query.norm * 0x1p-22 + 1e-36;
        double square = 0.0;
        query.row.assign(table_.n_padded(), 0.0f);
        for (std::size_t c = 0; c < dimension; ++c) {
            const double x = coordinates.rows[i * dimension + c] * unit;
            query.row[c] = static_cast<float>(x);
            square += x * x;
        }
        query.row_norm = std::sqrt(square) * float32_up + query.error;
        query.words.assign(table_.n_padded() / bytes_per_word, 0);
        query.is_finite = query.norm < 1e15;  // squares of float32 numbers are still finite
        const double sum = query.norm + table_.norm();
        const double longest = is_distance_ ? 0.5 * sum * sum : query.norm * table_.norm();
        query.largest = std::ldexp(longest * float32_up, query.shift);
        const ScoreMap* const scores = objects_.scores();
        query.is_two_sided = scores && !scores->is_increasing;
        if (query.is_two_sided) query.middle = std::ldexp(scores->middle, -query.shift);
        if (query.is_finite && !is_distance_) quantize(query, nullptr);
        set_slack(query);
    }

    // A query in the form that the boxes of leaves need.
    [[nodiscard]] LeafQuery leaf_query(const Query& query) const {
        // Products are off by a share of both lengths, differences by a share of their sum.
        const double slack =
            is_distance_ ? 0x1p-21
                         : rounding_share() * query.row_norm + query.error + 0x1p-22 * query.tail;
        return {query.row.data(),
                round_up(query.row_norm),
                round_up(query.tail),
                round_down(query.least_tail),
                round_up(query.error),
                round_up(slack),
                static_cast<float>(query.middle),
                query.is_two_sided};
    }

    // A query in the form that a leaf needs, from the score of the leaf's centre.
    CodeQuery code(Query& query, std::size_t index, double score) {
        const Leaf& leaf = table_.leaf(index);
        query.slack = is_distance_ ? distance_slack(query, index, score)
                                   : query.slack_of.code_norm * leaf.code_norm +
                                         query.slack_of.code_error * leaf.code_error +
                                         query.slack_of.length * leaf.length +
                                         query.slack_of.tail * leaf.tail + 1e-30;
        query.spread = 2 * query.slack + (is_distance_ ? distance_spread(query, leaf) : 0.0);
        CodeQuery coded{query.words.data(),
                        code_bias * query.sum,
                        query.scale * leaf.scale,
                        query.slack_of.tails,
                        -HUGE_VALF,
                        -HUGE_VALF};
        coded.high = high_of(query, score);
        if (query.is_two_sided && coded.high > -HUGE_VALF)
            coded.low = round_up(query.useless.low - score + query.slack);
        return coded;
    }

    // The value that an upper bound in a leaf must reach, from the score of the leaf's centre.
    static float high_of(const Query& query, double score) {
        if (!query.is_finite || !query.has_useless()) return -HUGE_VALF;
        return round_down(query.useless.high - score - query.slack);
    }

private:
    // Sets the codes of a query, or of its difference to a centre, and returns the length of what
    // was coded.
    double quantize(Query& query, const float* centre) {
        difference_.resize(table_.n_padded());
        const Codes codes = loops_.quantize(query.row.data(), centre, query.words.size(),
                                            difference_.data(), query.words.data());
        query.scale = codes.scale;
        query.sum = codes.sum;
        query.code_error = std::sqrt(static_cast<double>(codes.error)) * float32_up;
        return std::sqrt(static_cast<double>(codes.square)) * (1 + rounding_share());
    }

    // The greatest error of sums of float32 products, as a share of the lengths involved.
    [[nodiscard]] double rounding_share() const noexcept {
        return static_cast<double>(table_.dimension() + 32) * 0x1p-23;
    }

    // By how much bounds from codes may be short, for each length of a leaf: codes of the query and
    // of objects, and every float32 rounding.
    void set_slack(Query& query) const {
        const double rounding = 0x1p-20 * query.row_norm;
        query.slack_of.code_norm = query.code_error + 2 * rounding;
        query.slack_of.code_error = query.row_norm;
        query.slack_of.length = 2 * query.error + rounding_share() * query.row_norm + 3 * rounding;
        query.slack_of.tail = 0x1p-20 * query.tail;
        query.slack_of.tails = round_up(query.tail);
    }

    // The slack for distances, where the codes are those of the difference to the centre.
    double distance_slack(Query& query, std::size_t index, double score) {
        const Leaf& leaf = table_.leaf(index);
        const double off = query.error + 0x1p-21 * (query.row_norm + leaf.length);
        const double norm =
            (query.is_finite ? quantize(query, table_.centre(index)) : HUGE_VAL) + off;
        const double squares = leaf.radius * leaf.radius + leaf.tail * leaf.tail;
        return (rounding_share() * norm + 2 * off) * norm +
               (query.code_error + 0x1p-22 * norm) * leaf.code_norm + norm * leaf.code_error +
               off * leaf.radius +
               0x1p-20 * (norm * (leaf.radius + leaf.code_norm) + squares + query.tail * leaf.tail +
                          std::abs(score)) +
               1e-30;
    }

    // By how much upper bounds on distances lie above lower ones, beside slack and tails: squares
    // of lengths that are not known exactly.
    static double distance_spread(const Query& query, const Leaf& leaf) {
        const double lengths = leaf.length + leaf.radius + leaf.tail;
        const double squares = lengths * lengths + query.tail * query.tail;
        return 8 * lengths * leaf.error + 0x1p-19 * squares +
               0.5 * (query.tail * query.tail - query.least_tail * query.least_tail);
    }

    const Space& objects_;
    const CodeTable& table_;
    const CodeLoops& loops_;
    bool is_distance_;
    std::vector<float> difference_;
};

}  // namespace fastmks::coded
