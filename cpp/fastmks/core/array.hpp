#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace fastmks {

/// A fixed number of plain values: its own, or those in memory that an owner keeps alive, such as a
/// mapped file. Reading is the same for both. Copies own their values.
template <class T>
class Array {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Array() = default;
    explicit Array(std::size_t n, const T& value = T{}) : Array(std::vector<T>(n, value)) {}
    explicit Array(std::vector<T> values)
        : own_(std::move(values)), data_(own_.data()), size_(own_.size()) {}
    /// Borrows the n values at `data`, which `owner` keeps alive and which never change.
    Array(const T* data, std::size_t n, std::shared_ptr<const void> owner)
        : owner_(std::move(owner)), data_(data), size_(n) {}
    Array(const Array& other) : Array(std::vector<T>(other.begin(), other.end())) {}
    Array(Array&& other) noexcept { swap(other); }
    Array& operator=(Array other) noexcept {
        swap(other);
        return *this;
    }
    ~Array() = default;

    [[nodiscard]] const T* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t n_bytes() const noexcept { return size_ * sizeof(T); }
    [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_[i]; }
    [[nodiscard]] const T& back() const noexcept { return data_[size_ - 1]; }
    [[nodiscard]] const T* begin() const noexcept { return data_; }
    [[nodiscard]] const T* end() const noexcept { return data_ + size_; }

    /// The values to write, while something is built. Throws std::logic_error where they are
    /// borrowed.
    [[nodiscard]] std::span<T> edit() {
        if (owner_) throw std::logic_error("borrowed values are not written");
        return own_;
    }

private:
    void swap(Array& other) noexcept {
        own_.swap(other.own_);
        owner_.swap(other.owner_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
    }

    std::vector<T> own_;  // empty where the values are borrowed
    std::shared_ptr<const void> owner_;
    const T* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace fastmks
