// The C++ wrapper: `wrapper FOLDER`.

#include <guira.hpp>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1); \
        } \
    } while (0)

guira_status status_of(auto call) {
    try {
        call();
    } catch (const guira::error &error) {
        CHECK(std::string_view(error.what()) == guira_status_message(error.status));
        return error.status;
    }
    return GUIRA_OK;
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    guira_params params = guira_params_init(0);
    CHECK(status_of([&] { guira::filter filter(params); }) == GUIRA_ERR_CAPACITY);
    params.capacity = 1000;
    params.seed = 1;
    guira::filter filter(params);
    CHECK(filter.insert(7) && filter.contains(7) && !filter.contains(8));
    CHECK(filter.insert_unique(7) == std::optional(false));
    CHECK(filter.insert_unique(8) == std::optional(true));
    CHECK(filter.remove(8) && !filter.remove(8));

    std::vector<std::uint64_t> hashes{7, 100, 101};
    CHECK(filter.contains_mask(hashes) == 1);
    guira::masks masks = filter.insert_unique_mask(hashes);
    CHECK(masks.inserted == 6 && masks.refused == 0);
    CHECK(filter.remove(100) && filter.remove(101));
    struct packet { char before; std::uint64_t hash; } packets[3] = {{1, 7}, {2, 8}, {3, 7}};
    CHECK(filter.contains_mask({packets, &packet::hash}) == 5);
    bool found[3];
    CHECK(filter.contains(hashes, found) == 1 && found[0] && !found[1] && !found[2]);
    CHECK(status_of([&] { filter.contains(hashes, std::span(found, 2)); }) == GUIRA_ERR_ARGUMENT);
    std::vector<std::uint64_t> many(65);
    CHECK(status_of([&] { filter.contains_mask(many); }) == GUIRA_ERR_ARGUMENT);
    CHECK(filter.insert(hashes) == 3);
    std::string_view key = "ani";
    std::uint64_t hash = filter.hash(std::as_bytes(std::span(key)));
    CHECK(filter.insert(hash) && filter.contains(hash));

    // A full set is no error.
    std::uint64_t next = 1000;
    while (filter.insert(next)) next++;
    std::optional<bool> unique;
    while ((unique = filter.insert_unique(next))) next++;

    guira::filter copy(filter), moved(std::move(copy));
    CHECK(moved.size() == filter.size() && copy.native() == nullptr);
    std::string path = std::string(argv[1]) + "/wrapper";
    moved.save(path);
    moved.clear();
    CHECK(moved.size() == 0);
    moved = guira::filter(path);
    CHECK(moved.size() == filter.size() && moved.info().items == filter.size());
    CHECK(status_of([&] { guira::map map(path); }) == GUIRA_ERR_OTHER_TYPE);
    CHECK(status_of([&] { moved.save("/"); }) == GUIRA_ERR_IO);

    params.capacity = 100;
    guira::map map(params);
    std::uint16_t values[3];
    CHECK(map.insert(7, 200) && map.get(7) == 200 && !map.get(8));
    CHECK(map.get_mask(hashes, values) == 1 && values[0] == 200);
    CHECK(status_of([&] { map.insert(7, 256); }) == GUIRA_ERR_VALUE_TOO_LARGE);
    CHECK(map.remove(7, 200) && map.size() == 0);

    params.window = 1;
    guira::expiring expiring(params);
    CHECK(expiring.insert(1) && expiring.refresh(1) && !expiring.refresh(2));
    CHECK(expiring.insert_unique_mask(hashes).inserted == 7);
    CHECK(expiring.refresh_mask(hashes) == 7);
    std::uint64_t generation = expiring.info().generation;
    CHECK(expiring.advance() == generation + 1 && expiring.advance() == generation + 2);
    CHECK(expiring.contains_mask(hashes) == 0);

    CHECK(expiring.insert_or_refresh(7) == std::optional(true));
    CHECK(expiring.insert_or_refresh(7) == std::optional(false));
    masks = expiring.insert_or_refresh_mask(hashes);
    CHECK(masks.inserted == 6 && masks.refused == 0);
    while (expiring.insert_or_refresh(next)) next++;

    // A time to live, by a clock of the program.
    std::uint64_t now = 5;
    params.ttl_ns = 1000000;
    CHECK(status_of([&] { guira::expiring both(params); }) == GUIRA_ERR_SETTING);
    params.window = 0;
    params.clock = [](void *time) { return *static_cast<std::uint64_t *>(time); };
    params.clock_context = &now;
    guira::expiring timed(params);
    CHECK(timed.insert(1) && timed.insert(2));
    now += 600000;
    CHECK(timed.insert_or_refresh(1) == std::optional(false));
    now += 600000;
    CHECK(timed.contains(1) && !timed.contains(2) && timed.size() == 1);
    timed.save(path);
    CHECK(status_of([&] { guira::expiring without(path); }) == GUIRA_ERR_CLOCK);
    guira_expiring *loaded;
    guira::check(guira_expiring_load_with_clock(path.c_str(), params.clock, &now, &loaded));
    CHECK(guira::expiring(loaded).contains(1));
    return 0;
}
