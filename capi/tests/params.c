// Parameters, those that are refused, and the texts of statuses.

#include "check.h"

#define STATUS_OF(type)                                               \
    static guira_status status_of_##type(guira_params params) {       \
        guira_##type *object = NULL;                                  \
        guira_status status = guira_##type##_create(&params, &object); \
        CHECK((status == GUIRA_OK) == (object != NULL));              \
        OK(guira_##type##_destroy(object));                           \
        return status;                                                \
    }
STATUS_OF(filter)
STATUS_OF(map)
STATUS_OF(expiring)

// As above, with a window if nothing says when items expire.
static guira_status status_of_any_expiring(guira_params params) {
    if (params.window == 0 && params.ttl_ns == 0) params.window = 13;
    return status_of_expiring(params);
}

// Checks the statuses of the three types with a field set: 100 items fit.
#define CREATES(grows, field, value, of_filter, of_map, of_expiring) \
    do {                                                             \
        guira_params params = guira_params_init(100);                \
        params.growing = grows;                                      \
        params.field = value;                                        \
        EQUAL(status_of_filter(params), GUIRA_##of_filter);          \
        EQUAL(status_of_map(params), GUIRA_##of_map);                \
        EQUAL(status_of_any_expiring(params), GUIRA_##of_expiring);  \
    } while (0)

#define WITH(...) CREATES(0, __VA_ARGS__)
#define REFUSED(field, value, status) CREATES(0, field, value, status, status, status)
#define GROWING(field, value, status) CREATES(1, field, value, status, status, status)

// The shortest and the longest time to live.
static const uint64_t SHORTEST = 20000, LONGEST = UINT64_C(1) << 60;
static uint64_t now;

static void parameters(void) {
    REFUSED(capacity, 0, ERR_CAPACITY);
    REFUSED(capacity, UINT64_MAX, ERR_CAPACITY);
    REFUSED(false_positive_rate, 1.5, ERR_RATE);
    REFUSED(false_positive_rate, -0.0, ERR_RATE);
    REFUSED(false_positive_rate, 1e-12, ERR_RATE);
    REFUSED(growing, 1, OK);
    REFUSED(growing, 2, ERR_SETTING);
    REFUSED(fastest, 7, ERR_SETTING);
    REFUSED(no_huge_pages, 2, ERR_SETTING);
    REFUSED(max_bytes, 10, ERR_SETTING);
    REFUSED(max_bytes, 1 << 20, OK);
    REFUSED(no_huge_pages, 1, OK);
    REFUSED(writers, 3, OK);
    // Fields of some types.
    WITH(max_copies, 1, OK, OK, ERR_SETTING);
    WITH(fastest, 1, OK, ERR_SETTING, ERR_SETTING);
    WITH(value_bits, 16, ERR_SETTING, OK, ERR_SETTING);
    WITH(value_bits, 17, ERR_SETTING, ERR_SETTING, ERR_SETTING);
    WITH(window, 253, ERR_SETTING, ERR_SETTING, OK);
    WITH(window, 254, ERR_SETTING, ERR_SETTING, ERR_SETTING);
    WITH(ttl_ns, SHORTEST, ERR_SETTING, ERR_SETTING, OK);
    REFUSED(clock, read_clock, ERR_SETTING);
    REFUSED(clock_context, &now, ERR_SETTING);
    REFUSED(max_capacity, 1000, ERR_SETTING);
    REFUSED(no_reserve, 1, ERR_SETTING);
    GROWING(max_capacity, 100, OK);
    GROWING(max_capacity, 99, ERR_MAX_CAPACITY_TOO_LOW);
    GROWING(max_capacity, UINT64_MAX, ERR_CAPACITY);
    GROWING(no_reserve, 1, OK);
    GROWING(no_reserve, 2, ERR_SETTING);
    // 2^37 bytes, which a process may be refused or not.
    guira_params params = guira_params_init(UINT64_C(1) << 36);
    guira_status status = status_of_filter(params);
    CHECK(status == GUIRA_OK || status == GUIRA_ERR_NO_MEMORY || status == GUIRA_ERR_CAPACITY);

    // A later header has a larger struct.
    struct {
        guira_params params;
        uint64_t later;
    } larger = {guira_params_init(100), 0};
    larger.params.size = sizeof larger;
    guira_filter *filter = NULL;
    OK(guira_filter_create(&larger.params, &filter));
    OK(guira_filter_destroy(filter));
    filter = NULL;
    larger.later = 1;
    STATUS(guira_filter_create(&larger.params, &filter), GUIRA_ERR_STRUCT_SIZE);
    CHECK(filter == NULL);
}

// Expiring sets have either a time to live, perhaps with a clock, or a window.
static void expiry(uint32_t growing) {
    const struct {
        uint64_t ttl_ns;
        uint32_t window;
        guira_clock_fn clock;
        void *context;
        guira_status status;
    } cases[] = {
        {0, 0, NULL, NULL, GUIRA_ERR_SETTING},
        {0, 0, read_clock, &now, GUIRA_ERR_SETTING},
        {0, 1, NULL, NULL, GUIRA_OK},
        {0, 1, read_clock, &now, GUIRA_ERR_SETTING},
        {0, 1, NULL, &now, GUIRA_ERR_SETTING},
        {SHORTEST, 1, NULL, NULL, GUIRA_ERR_SETTING},
        {SHORTEST, 6, read_clock, &now, GUIRA_ERR_SETTING},
        {SHORTEST, 0, NULL, &now, GUIRA_ERR_SETTING},
        {SHORTEST, 0, NULL, NULL, GUIRA_OK},
        {SHORTEST, 0, read_clock, &now, GUIRA_OK},
        {LONGEST, 0, NULL, NULL, GUIRA_OK},
        {LONGEST, 0, read_clock, &now, GUIRA_OK},
        {SHORTEST - 1, 0, NULL, NULL, GUIRA_ERR_SETTING},
        {SHORTEST - 1, 0, read_clock, &now, GUIRA_ERR_SETTING},
        {LONGEST + 1, 0, NULL, NULL, GUIRA_ERR_SETTING},
        {UINT64_MAX, 0, read_clock, &now, GUIRA_ERR_SETTING},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        guira_params params = guira_params_init(100);
        params.growing = growing;
        params.ttl_ns = cases[i].ttl_ns, params.window = cases[i].window;
        params.clock = cases[i].clock, params.clock_context = cases[i].context;
        EQUAL(status_of_expiring(params), cases[i].status);
        if (params.ttl_ns == 0 && params.window == 0 && params.clock == NULL) continue;
        EQUAL(status_of_filter(params), GUIRA_ERR_SETTING);
        EQUAL(status_of_map(params), GUIRA_ERR_SETTING);
    }
    // A clock and a context whose bits are all ones.
    guira_params params = guira_params_init(100);
    params.clock = read_clock, params.clock_context = (void *)UINTPTR_MAX;
    EQUAL(status_of_filter(params), GUIRA_ERR_SETTING);
    EQUAL(status_of_map(params), GUIRA_ERR_SETTING);
}

static void texts(void) {
    const char *unknown = guira_status_message((guira_status)1000);
    CHECK(strcmp(guira_status_message(GUIRA_OK), "no error") == 0);
    for (int status = 0; status <= GUIRA_ERR_CLOCK; status++) {
        const char *text = guira_status_message((guira_status)status);
        CHECK(strlen(text) > 5 && text != unknown);
        for (int other = 0; other < status; other++) {
            CHECK(strcmp(text, guira_status_message((guira_status)other)) != 0);
        }
    }
    CHECK(guira_status_message((guira_status)(GUIRA_ERR_CLOCK + 1)) == unknown);
    CHECK(guira_status_message((guira_status)INT32_MIN) == unknown);
}

int main(void) {
    parameters();
    for (uint32_t growing = 0; growing < 2; growing++) expiry(growing);
    texts();
    return 0;
}
