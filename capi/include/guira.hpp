// guira for C++20: objects that destroy themselves, spans, and exceptions in place of statuses.
//
// `guira.h` documents what each method does. `native()` returns the object for functions that have
// no method here. Errors throw `guira::error`. That an object is full is no error, but a result.

#ifndef GUIRA_HPP
#define GUIRA_HPP

#include <cstddef>
#include <cstdint>
#include <guira.h>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace guira {

using u16 = std::uint16_t;
using u64 = std::uint64_t;
using bytes = std::span<const std::byte>;

struct error : std::runtime_error {
    guira_status status;
    explicit error(guira_status s) : std::runtime_error(guira_status_message(s)), status(s) {}
};

inline void check(guira_status status) { if (status != GUIRA_OK) throw error(status); }
inline void expect(bool agree) { if (!agree) throw error(GUIRA_ERR_ARGUMENT); }

// As `check` for an insert, and whether there was room.
inline bool has_room(guira_status status) {
    bool full = status == GUIRA_ERR_FULL || status == GUIRA_ERR_FULLY_GROWN ||
                status == GUIRA_ERR_TOO_MANY_COPIES;
    if (!full) check(status);
    return !full;
}

// Returns the answer that a function writes to its last argument.
template <typename Answer> Answer ask(auto function, auto... arguments) {
    Answer answer{};
    check(function(arguments..., &answer));
    return answer;
}

// Hashes side by side, or in a field of structs: `hashes(packets, &packet::hash)`.
struct hashes {
    const u64 *first = nullptr;
    std::size_t stride = sizeof(u64), size;

    hashes(std::span<const u64> all) : first(all.data()), size(all.size()) {}
    template <typename T> hashes(const T &all) : hashes(std::span<const u64>(all)) {}
    template <typename T, typename S> hashes(const T &structs, u64 S::*field)
        : stride(sizeof(S)), size(std::size(structs)) {
        if (size > 0) first = &(std::data(structs)->*field);
    }
};

struct masks { u64 inserted, refused; };

// What all types have. `F` has the functions of `Type`.
template <typename Type, typename F> class object {
    struct destroyer { void operator()(Type *object) const { F::destroy(object); } };
    std::unique_ptr<Type, destroyer> object_;

  public:
    explicit object(const guira_params &params) : object(ask<Type *>(F::create, &params)) {}
    explicit object(const std::string &path) : object(ask<Type *>(F::load, path.c_str())) {}
    explicit object(Type *owned) : object_(owned) {}
    object(const object &other) : object(ask<Type *>(F::clone, other.native())) {}
    object(object &&) = default;
    object &operator=(object other) { object_.swap(other.object_); return *this; }

    Type *native() const { return object_.get(); }
    void save(const std::string &path) const { check(F::save(native(), path.c_str())); }
    void clear() { check(F::clear(native())); }
    u64 size() const { return ask<u64>(F::len, native()); }
    guira_info info() const {
        guira_info info = guira_info_init();
        check(F::info(native(), &info));
        return info;
    }
    u64 hash(bytes key) const { return ask<u64>(F::hash, native(), key.data(), key.size()); }
    bool contains(u64 hash) const { return ask<bool>(F::contains, native(), hash); }
    u64 contains_mask(hashes h) const {
        return ask<u64>(F::contains_mask, native(), h.first, h.stride, h.size);
    }
    // Returns the number of items that were found.
    std::size_t contains(hashes h, std::span<bool> found) const {
        expect(h.size == found.size());
        return ask<std::size_t>(F::contains_batch, native(), h.first, h.stride, h.size,
                                found.data());
    }
};

#define GUIRA_F(type, name) static constexpr auto name = guira_##type##_##name;
#define GUIRA_FUNCTIONS(type) struct type##_functions { \
    GUIRA_F(type, create) GUIRA_F(type, load) GUIRA_F(type, clone) GUIRA_F(type, destroy) \
    GUIRA_F(type, save) GUIRA_F(type, clear) GUIRA_F(type, len) GUIRA_F(type, info) \
    GUIRA_F(type, hash) GUIRA_F(type, contains) GUIRA_F(type, contains_mask) \
    GUIRA_F(type, contains_batch) }
GUIRA_FUNCTIONS(filter);
GUIRA_FUNCTIONS(map);
GUIRA_FUNCTIONS(expiring);
#undef GUIRA_FUNCTIONS
#undef GUIRA_F

struct filter : object<guira_filter, filter_functions> {
    using object::object;
    bool insert(u64 hash) { return has_room(guira_filter_insert(native(), hash)); }
    // Empty if the filter is full.
    std::optional<bool> insert_unique(u64 hash) {
        bool inserted;
        bool room = has_room(guira_filter_insert_unique(native(), hash, &inserted));
        return room ? std::optional(inserted) : std::nullopt;
    }
    bool remove(u64 hash) { return ask<bool>(guira_filter_remove, native(), hash); }
    masks insert_unique_mask(hashes h) {
        masks m;
        has_room(guira_filter_insert_unique_mask(native(), h.first, h.stride, h.size, &m.inserted,
                                                 &m.refused));
        return m;
    }
    // Returns the number of items that were inserted.
    std::size_t insert(hashes h) {
        std::size_t n;
        has_room(guira_filter_insert_batch(native(), h.first, h.stride, h.size, nullptr, &n));
        return n;
    }
};

struct map : object<guira_map, map_functions> {
    using object::object;
    bool insert(u64 hash, u16 value) { return has_room(guira_map_insert(native(), hash, value)); }
    std::optional<u16> get(u64 hash) const {
        u16 value;
        bool found = ask<bool>(guira_map_get, native(), hash, &value);
        return found ? std::optional(value) : std::nullopt;
    }
    u64 get_mask(hashes h, std::span<u16> values) const {
        expect(h.size == values.size());
        return ask<u64>(guira_map_get_mask, native(), h.first, h.stride, h.size, values.data());
    }
    bool remove(u64 hash, u16 value) { return ask<bool>(guira_map_remove, native(), hash, value); }
};

struct expiring : object<guira_expiring, expiring_functions> {
    using object::object;
    bool insert(u64 hash) { return has_room(guira_expiring_insert(native(), hash, nullptr)); }
    // Empty if the filter is full.
    std::optional<bool> insert_or_refresh(u64 hash) {
        bool inserted;
        bool room = has_room(guira_expiring_insert_or_refresh(native(), hash, &inserted));
        return room ? std::optional(inserted) : std::nullopt;
    }
    masks insert_or_refresh_mask(hashes h) {
        masks m;
        has_room(guira_expiring_insert_or_refresh_mask(native(), h.first, h.stride, h.size,
                                                       &m.inserted, &m.refused));
        return m;
    }
    bool refresh(u64 hash) { return ask<bool>(guira_expiring_refresh, native(), hash); }
    masks insert_unique_mask(hashes h) {
        masks m;
        has_room(guira_expiring_insert_unique_mask(native(), h.first, h.stride, h.size, &m.inserted,
                                                   &m.refused));
        return m;
    }
    u64 refresh_mask(hashes h) {
        return ask<u64>(guira_expiring_refresh_mask, native(), h.first, h.stride, h.size);
    }
    u64 advance() { return ask<u64>(guira_expiring_advance, native()); }
};

} // namespace guira

#endif
