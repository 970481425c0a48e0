// A flow stage on two threads: assigns each flow of a capture to a worker, and notices idle flows.
//
//     flows CAPTURE
//
// The threads take bursts of 32 packets. For each burst, they hash the 5-tuples, look up the worker
// of each flow in a map, and insert flows that are new: the thread that meets a flow first becomes
// its worker. They also mark each flow as recently seen in an expiring set, whose clock is the time
// of the capture. The capture is played at many sites, one after the other. Each site has flows of
// its own.
//
// An exact record of the flows checks the map and the set. A flow that was inserted and is not
// found, or has another worker, or is forgotten before it is idle, ends the program with status 1,
// and so do more false positives than the rate allows.

#include <guira.h>
#include <pcap/pcap.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BURST = 32, THREADS = 2, SITES = 64 };

// A flow is idle when this time has passed without a packet, or at most 1.2 times as much. Times
// are in nanoseconds, by the clock of the capture.
#define IDLE UINT64_C(5000000000)

#define NO_WORKER UINT16_MAX

// A two-way 5-tuple, and the site that it belongs to. Without padding, since its bytes are hashed.
struct key {
    uint8_t low[16], high[16]; // addresses; IPv4 in the first 4 bytes
    uint16_t low_port, high_port, protocol, site;
};
_Static_assert(sizeof(struct key) == 40, "a key has no padding");

struct packet {
    struct key key;
    uint64_t time; // since the first packet, from 1 on
    size_t flow;
};

static struct packet *packets;
static size_t packet_count, flow_count;

// The exact record of each flow at each site: its worker, and when it was marked last, or 0.
struct record {
    _Atomic uint16_t worker;
    atomic_uint_fast64_t seen;
};
static struct record *records;
static guira_map *workers;
static guira_expiring *recent;
static atomic_size_t cursor;

// The time of the capture: that of the latest packet that a thread has taken.
static atomic_uint_fast64_t now;

// What a thread counts: packets of flows that were new or idle by the set, and of those that were
// so by the record only.
struct counts { unsigned long idle, late; };

static void fail(const char *what) {
    fprintf(stderr, "flows: %s\n", what);
    exit(1);
}

static void expect(guira_status status) {
    if (status != GUIRA_OK) fail(guira_status_message(status));
}

static uint16_t big_endian(const uint8_t *bytes) { return (uint16_t)(bytes[0] << 8 | bytes[1]); }

// Decodes a packet on Ethernet. Returns whether it is an IP packet.
static bool decode(const uint8_t *bytes, size_t len, struct key *key) {
    memset(key, 0, sizeof *key);
    if (len < 14 + 20) return false;
    uint16_t type = big_endian(bytes + 12);
    const uint8_t *ip = bytes + 14, *source, *destination, *ports;
    size_t address;
    if (type == 0x0800) {
        key->protocol = ip[9];
        source = ip + 12, destination = ip + 16, address = 4;
        bool later_fragment = (big_endian(ip + 6) & 0x1fff) != 0;
        ports = later_fragment ? bytes + len : ip + 4 * (ip[0] & 15);
    } else if (type == 0x86dd && len >= 14 + 40) {
        key->protocol = ip[6];
        source = ip + 8, destination = ip + 24, address = 16;
        ports = ip + 40;
    } else {
        return false;
    }
    uint16_t source_port = 0, destination_port = 0;
    if ((key->protocol == 6 || key->protocol == 17) && ports + 4 <= bytes + len) {
        source_port = big_endian(ports), destination_port = big_endian(ports + 2);
    }
    int order = memcmp(source, destination, address);
    bool is_from_low = order < 0 || (order == 0 && source_port <= destination_port);
    memcpy(key->low, is_from_low ? source : destination, address);
    memcpy(key->high, is_from_low ? destination : source, address);
    key->low_port = is_from_low ? source_port : destination_port;
    key->high_port = is_from_low ? destination_port : source_port;
    return true;
}

// Returns the number of the flow of the last packet. Exact, and slow.
static size_t number_of_flow(const struct packet *last) {
    for (const struct packet *packet = packets; packet < last; packet++) {
        if (memcmp(&packet->key, &last->key, sizeof last->key) == 0) return packet->flow;
    }
    return flow_count++;
}

static void read_capture(const char *path) {
    char message[PCAP_ERRBUF_SIZE];
    pcap_t *capture = pcap_open_offline(path, message);
    if (!capture) fail(message);
    if (pcap_datalink(capture) != DLT_EN10MB) fail("the capture is not one of Ethernet");
    struct pcap_pkthdr *header;
    const u_char *bytes;
    uint64_t start = 0, time = 0;
    size_t room = 0;
    int outcome;
    while ((outcome = pcap_next_ex(capture, &header, &bytes)) == 1) {
        if (packet_count == room) {
            room = room ? 2 * room : 1024;
            packets = realloc(packets, room * sizeof *packets);
            if (!packets) fail("out of memory");
        }
        struct packet *packet = &packets[packet_count];
        if (!decode(bytes, header->caplen, &packet->key)) continue;
        uint64_t us = (uint64_t)header->ts.tv_sec * 1000000 + (uint64_t)header->ts.tv_usec;
        if (packet_count == 0) start = us * 1000 - 1;
        if (us * 1000 > start + time) time = us * 1000 - start; // never goes back
        packet->time = time;
        packet->flow = number_of_flow(packet);
        packet_count++;
    }
    if (outcome == PCAP_ERROR) fail(pcap_geterr(capture));
    if (packet_count == 0) fail("the capture has no IP packet");
    pcap_close(capture);
}

// The clock of the expiring set.
static uint64_t read_time(void *time) { return atomic_load((atomic_uint_fast64_t *)time); }

// Moves a time forward, and never back.
static void move_to(atomic_uint_fast64_t *time, uint64_t later) {
    uint_fast64_t before = atomic_load(time);
    while (before < later && !atomic_compare_exchange_weak(time, &before, later)) {}
}

// Assigns the flows of a burst to workers.
static void assign(const uint64_t *hashes, struct record *const *flows, size_t n, uint16_t self) {
    uint16_t expected[BURST], found[BURST];
    uint64_t hits;
    for (size_t i = 0; i < n; i++) expected[i] = atomic_load(&flows[i]->worker);
    expect(guira_map_get_mask(workers, hashes, sizeof hashes[0], n, found, &hits));
    for (size_t i = 0; i < n; i++) {
        bool hit = hits >> i & 1, inserted;
        if (!hit) {
            if (expected[i] != NO_WORKER) fail("false negative: a flow is not in the map");
            expect(guira_map_insert_unique(workers, hashes[i], self, &inserted, &found[i]));
            if (inserted) atomic_store(&flows[i]->worker, self);
        } else if (expected[i] != NO_WORKER && found[i] != expected[i]) {
            // Never, since nothing is inserted beside a flow with the same fingerprint.
            fail("the map has another worker for a flow");
        }
    }
}

// Marks the flows of a burst as seen. Counts those that were idle before, or new.
static void mark(const uint64_t *hashes, struct record *const *flows, size_t n,
                 struct counts *counts) {
    uint64_t seen[BURST], idle, start = atomic_load(&now);
    for (size_t i = 0; i < n; i++) seen[i] = atomic_load(&flows[i]->seen);
    expect(guira_expiring_insert_or_refresh_mask(recent, hashes, sizeof hashes[0], n, &idle, NULL));
    uint64_t end = atomic_load(&now);
    for (size_t i = 0; i < n; i++) {
        bool was_idle = idle >> i & 1;
        counts->idle += was_idle;
        if (was_idle && seen[i] > 0 && end < seen[i] + IDLE) fail("a flow is forgotten early");
        // Neither this burst nor, but for a moment, the other thread has marked the flow before.
        bool is_first = atomic_load(&flows[i]->seen) == seen[i];
        bool is_late = seen[i] == 0 || start >= seen[i] + IDLE + IDLE / 5;
        counts->late += !was_idle && is_first && is_late;
        move_to(&flows[i]->seen, start);
    }
}

static void *work(void *argument) {
    uint16_t self = *(uint16_t *)argument;
    uint64_t duration = packets[packet_count - 1].time;
    size_t total = SITES * packet_count, start;
    struct counts *counts = calloc(1, sizeof *counts);
    if (!counts) fail("out of memory");
    while ((start = atomic_fetch_add(&cursor, BURST)) < total) {
        size_t n = total - start < BURST ? total - start : BURST;
        struct key keys[BURST];
        struct record *flows[BURST];
        for (size_t i = 0; i < n; i++) {
            size_t site = (start + i) / packet_count;
            const struct packet *packet = &packets[(start + i) % packet_count];
            keys[i] = packet->key;
            keys[i].site = (uint16_t)site;
            flows[i] = &records[site * flow_count + packet->flow];
        }
        move_to(&now, start / packet_count * duration + packets[start % packet_count].time);
        uint64_t hashes[BURST];
        size_t size = sizeof keys[0];
        expect(guira_map_hash_batch(workers, keys, size, n, size, hashes, sizeof hashes[0]));
        assign(hashes, flows, n, self);
        mark(hashes, flows, n, counts);
    }
    return counts;
}

// Returns the hash of a flow at a site.
static uint64_t hash_of(size_t flow) {
    size_t i = 0;
    while (packets[i].flow != flow % flow_count) i++;
    struct key key = packets[i].key;
    key.site = (uint16_t)(flow / flow_count);
    uint64_t hash;
    expect(guira_map_hash(workers, &key, sizeof key, &hash));
    return hash;
}

// Checks the map against the record, and removes all flows from it. Returns how many flows share
// the entry of another one.
static size_t check_workers(size_t flows) {
    size_t per_worker[THREADS] = {0}, inserted = 0;
    for (size_t flow = 0; flow < flows; flow++) {
        uint16_t worker = atomic_load(&records[flow].worker);
        if (worker != NO_WORKER) per_worker[worker]++, inserted++;
    }
    uint64_t len;
    expect(guira_map_len(workers, &len));
    if (len != inserted) fail("the map miscounts");
    for (size_t flow = 0; flow < flows; flow++) {
        uint16_t worker = atomic_load(&records[flow].worker), value;
        if (worker == NO_WORKER) continue;
        uint64_t hash = hash_of(flow);
        bool found, removed;
        expect(guira_map_get(workers, hash, &value, &found));
        if (!found || value != worker) fail("a flow is lost");
        expect(guira_map_remove(workers, hash, worker, &removed));
        if (!removed) fail("a flow cannot be removed");
    }
    expect(guira_map_len(workers, &len));
    if (len != 0) fail("the map is not empty");
    printf("%zu flows: %zu of worker 0, %zu of worker 1, %zu share the entry of another flow\n",
           flows, per_worker[0], per_worker[1], flows - inserted);
    return flows - inserted;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: flows CAPTURE\n");
        return 2;
    }
    read_capture(argv[1]);
    size_t flows = SITES * flow_count;
    records = calloc(flows, sizeof *records);
    if (!records) fail("out of memory");
    for (size_t i = 0; i < flows; i++) {
        atomic_init(&records[i].worker, NO_WORKER);
        atomic_init(&records[i].seen, 0);
    }

    guira_params params = guira_params_init(2 * flows);
    params.value_bits = 4;
    expect(guira_map_create(&params, &workers));
    params = guira_params_init(2 * flows);
    params.ttl_ns = IDLE;
    params.clock = read_time;
    params.clock_context = &now;
    expect(guira_expiring_create(&params, &recent));

    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pthread_t threads[THREADS];
    uint16_t numbers[THREADS];
    for (uint16_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0) fail("a thread");
    }
    struct counts sum = {0, 0};
    for (size_t i = 0; i < THREADS; i++) {
        void *counted;
        pthread_join(threads[i], &counted);
        struct counts *counts = counted;
        sum.idle += counts->idle, sum.late += counts->late;
        free(counts);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double ns = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
    size_t total = SITES * packet_count;
    printf("%zu packets at %d sites, %.0f ns per packet\n", total, SITES, ns / (double)total);
    // The capture is played so fast that a call of one thread may last for seconds of it, and hold
    // up the end of a generation.
    printf("%lu packets of flows that were new or idle, %lu of idle flows that were found\n",
           sum.idle, sum.late);
    // The rate is at most 0.002, and half of that at half the capacity. More than this is less
    // likely than 1 in 10^20.
    if (check_workers(flows) > 40 + flows / 100) fail("too many false positives");
    // All flows are idle in the end, although nobody writes.
    uint64_t left;
    move_to(&now, atomic_load(&now) + IDLE + IDLE / 5);
    expect(guira_expiring_len(recent, &left));
    if (left != 0) fail("a flow is not forgotten");
    guira_map_destroy(workers);
    guira_expiring_destroy(recent);
    free(records);
    free(packets);
    return 0;
}
