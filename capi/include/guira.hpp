// guira for C++20: objects that destroy themselves, spans, and exceptions in place of error codes.
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
using hashes = std::span<const u64>;

struct error : std::runtime_error {
    int code;
    explicit error(int code) : std::runtime_error(guira_strerror(code)), code(code) {}
};

// Returns a result that is no error.
template <typename Result> Result check(Result result) {
    if (result < 0) throw error(static_cast<int>(result));
    return result;
}

// As `check` for an insert, and whether there was room.
inline bool has_room(int result) {
    return result != GUIRA_ERR_FULL && result != GUIRA_ERR_TOO_MANY_COPIES && check(result) >= 0;
}

inline void expect(bool agree) { if (!agree) throw error(GUIRA_ERR_ARGUMENT); }

struct burst : hashes {
    template <typename T> burst(const T &h) : hashes(h) { expect(size() <= GUIRA_MAX_BURST); }
};

struct masks { u64 added, refused; };

template <auto insert, typename Type> masks unique(Type *object, burst h) {
    masks m{};
    m.added = insert(object, h.data(), h.size(), &m.refused);
    return m;
}

// What all types have. `F` has the functions of `Type`.
template <typename Type, typename Params, typename F> class object {
    struct destroyer { void operator()(Type *object) const { F::destroy(object); } };
    std::unique_ptr<Type, destroyer> object_;
    template <typename Make> static Type *made(Make make) {
        Type *object = nullptr;
        check(make(&object));
        return object;
    }

  public:
    explicit object(const Params &params)
        : object(made([&](Type **o) { return F::create(&params, o); })) {}
    explicit object(const std::string &path)
        : object(made([&](Type **o) { return F::load(path.c_str(), o); })) {}
    explicit object(Type *owned) : object_(owned) {}
    object(const object &other)
        : object(made([&](Type **o) { return F::clone(other.native(), o); })) {}
    object(object &&) = default;
    object &operator=(object other) { object_.swap(other.object_); return *this; }

    Type *native() const { return object_.get(); }
    void save(const std::string &path) const { check(F::save(native(), path.c_str())); }
    void clear() { check(F::clear(native())); }
    u64 size() const { return F::len(native()); }
    guira_info info() const {
        guira_info info = GUIRA_INFO_INIT;
        check(F::get_info(native(), &info));
        return info;
    }
    u64 hash(bytes key) const { return F::hash(native(), key.data(), key.size()); }
    // Hashes keys of equal length that lie one after another.
    void hash(bytes keys, std::size_t length, std::span<u64> out) const {
        expect(keys.size() == out.size() * length);
        check(F::hash_bulk(native(), keys.data(), out.size(), length, out.data()));
    }
    bool contains(u64 hash) const { return check(F::contains(native(), hash)); }
    u64 contains_mask(burst h) const { return F::contains_mask(native(), h.data(), h.size()); }
    u64 contains(hashes h, std::span<bool> found) const {
        expect(h.size() == found.size());
        return check(F::contains_bulk(native(), h.data(), h.size(), found.data()));
    }
};

#define GUIRA_F(p, name) static constexpr auto name = p##name;
#define GUIRA_FUNCTIONS(type, p) struct type { \
    GUIRA_F(p, create) GUIRA_F(p, load) GUIRA_F(p, clone) GUIRA_F(p, destroy) GUIRA_F(p, save) \
    GUIRA_F(p, clear) GUIRA_F(p, len) GUIRA_F(p, get_info) GUIRA_F(p, hash) GUIRA_F(p, hash_bulk) \
    GUIRA_F(p, contains) GUIRA_F(p, contains_mask) GUIRA_F(p, contains_bulk) }
GUIRA_FUNCTIONS(filter_functions, guira_);
GUIRA_FUNCTIONS(map_functions, guira_map_);
GUIRA_FUNCTIONS(expiring_functions, guira_expiring_);
#undef GUIRA_FUNCTIONS

struct filter : object<guira_filter, guira_filter_params, filter_functions> {
    using object::object;
    bool insert(u64 hash) { return has_room(guira_insert(native(), hash)); }
    // Empty if the set is full.
    std::optional<bool> insert_unique(u64 hash) {
        int result = guira_insert_unique(native(), hash);
        return has_room(result) ? std::optional(result == 1) : std::nullopt;
    }
    bool remove(u64 hash) { return check(guira_remove(native(), hash)); }
    masks insert_unique_mask(burst h) { return unique<guira_insert_unique_mask>(native(), h); }
    u64 remove_mask(burst h) { return guira_remove_mask(native(), h.data(), h.size()); }
    // Returns the number of items that were inserted.
    u64 insert(hashes h) { return check(guira_insert_bulk(native(), h.data(), h.size(), {})); }
};

struct map : object<guira_map, guira_map_params, map_functions> {
    using object::object;
    bool insert(u64 hash, u16 value) { return has_room(guira_map_insert(native(), hash, value)); }
    std::optional<u16> get(u64 hash) const {
        u16 value = 0;
        return check(guira_get(native(), hash, &value)) ? std::optional(value) : std::nullopt;
    }
    u64 get_mask(burst h, std::span<u16> values) const {
        expect(h.size() == values.size());
        return guira_get_mask(native(), h.data(), h.size(), values.data());
    }
    bool remove(u64 hash, u16 value) { return check(guira_map_remove(native(), hash, value)); }
};

struct expiring : object<guira_expiring, guira_expiring_params, expiring_functions> {
    using object::object;
    bool insert(u64 h) { return has_room(guira_expiring_insert(native(), h, nullptr)); }
    bool refresh(u64 hash) { return check(guira_refresh(native(), hash)); }
    masks insert_unique_mask(burst h) {
        return unique<guira_expiring_insert_unique_mask>(native(), h);
    }
    u64 refresh_mask(burst h) { return guira_refresh_mask(native(), h.data(), h.size()); }
    u64 advance() { return guira_advance(native()); }
    // The clock returns nanoseconds, and does not throw.
    u64 tick(auto clock) { return guira_tick(native(), read<decltype(clock)>, &clock); }
    u64 advance_to(auto clock) { return guira_advance_to(native(), read<decltype(clock)>, &clock); }

private:
    template <class Clock> static u64 read(void *clock) noexcept {
        return (*static_cast<Clock *>(clock))();
    }
};

} // namespace guira

#endif
