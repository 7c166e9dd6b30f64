#include "src/trace/table.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS_FIRST = 64, SLOTS_MAX = 1 << 30 }; /* powers of two; at most three quarters are used */

static uint64_t mix(uint64_t hash, uint64_t word) {
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 29);
}

static bool is_full(uint32_t count, uint32_t slot_count) {
    return count >= slot_count / 4 * 3;
}

/* --- Names --- */

static uint64_t hash_of_name(const char *name, size_t bytes) {
    uint64_t hash = bytes;
    for (size_t i = 0; i < bytes; i++)
        hash = mix(hash, (unsigned char)name[i]);
    return hash;
}

static char **name_slot(const trace_names *names, const char *name, size_t bytes) {
    const uint32_t mask = names->slot_count - 1;
    uint32_t at = (uint32_t)hash_of_name(name, bytes) & mask;
    while (names->slots[at] &&
           (strncmp(names->slots[at], name, bytes) != 0 || names->slots[at][bytes] != '\0'))
        at = (at + 1) & mask;
    return &names->slots[at];
}

static bool names_grow(trace_names *names) {
    trace_names larger = {NULL, names->slot_count ? names->slot_count * 2 : SLOTS_FIRST,
                          names->count};
    if (larger.slot_count > SLOTS_MAX) return false;
    larger.slots = calloc(larger.slot_count, sizeof *larger.slots);
    if (!larger.slots) return false;
    for (uint32_t i = 0; i < names->slot_count; i++)
        if (names->slots[i])
            *name_slot(&larger, names->slots[i], strlen(names->slots[i])) = names->slots[i];
    free(names->slots);
    *names = larger;
    return true;
}

const char *trace_names_keep(trace_names *names, const char *name, size_t bytes) {
    if (is_full(names->count, names->slot_count) && !names_grow(names)) return NULL;
    char **slot = name_slot(names, name, bytes);
    if (*slot) return *slot;
    char *copy = malloc(bytes + 1);
    if (!copy) return NULL;
    memcpy(copy, name, bytes);
    copy[bytes] = '\0';
    names->count++;
    return *slot = copy;
}

void trace_names_free(trace_names *names) {
    for (uint32_t i = 0; i < names->slot_count; i++)
        free(names->slots[i]);
    free(names->slots);
}

/* --- Numbers --- */

static table_entry *table_slot(const trace_table *table, const uint64_t key[TABLE_WORDS]) {
    const uint32_t mask = table->slot_count - 1;
    uint64_t hash = 0;
    for (int i = 0; i < TABLE_WORDS; i++)
        hash = mix(hash, key[i]);
    uint32_t at = (uint32_t)(hash >> 20) & mask;
    while (table->slots[at].used &&
           memcmp(table->slots[at].key, key, sizeof table->slots[at].key) != 0)
        at = (at + 1) & mask;
    return &table->slots[at];
}

static bool table_grow(trace_table *table) {
    trace_table larger = {NULL, table->slot_count ? table->slot_count * 2 : SLOTS_FIRST,
                          table->count};
    if (larger.slot_count > SLOTS_MAX) return false;
    larger.slots = calloc(larger.slot_count, sizeof *larger.slots);
    if (!larger.slots) return false;
    for (uint32_t i = 0; i < table->slot_count; i++)
        if (table->slots[i].used) *table_slot(&larger, table->slots[i].key) = table->slots[i];
    free(table->slots);
    *table = larger;
    return true;
}

table_entry *trace_table_find(trace_table *table, const uint64_t key[TABLE_WORDS],
                              bool *is_new_out) {
    if (is_full(table->count, table->slot_count) && !table_grow(table)) return NULL;
    table_entry *entry = table_slot(table, key);
    *is_new_out = !entry->used;
    if (entry->used) return entry;
    memset(entry, 0, sizeof *entry);
    memcpy(entry->key, key, sizeof entry->key);
    entry->used = true;
    table->count++;
    return entry;
}

void trace_table_free(trace_table *table) {
    free(table->slots);
}
