#ifndef TUTTI_TRACE_TABLE_H
#define TUTTI_TRACE_TABLE_H

/* Two hash tables: names that are kept once, and numbers that are found by several numbers. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- Names --- */

typedef struct trace_names {
    char **slots; /* open addressing */
    uint32_t slot_count, count;
} trace_names;

/* The copy of a name that lasts as long as the table; NULL when memory is out. */
const char *trace_names_keep(trace_names *names, const char *name, size_t bytes);

void trace_names_free(trace_names *names);

/* --- Numbers --- */

enum { TABLE_WORDS = 6 };

typedef struct table_entry {
    uint64_t key[TABLE_WORDS];
    uint32_t first, last, waiting; /* what it is for, is the user's matter */
    bool used;
} table_entry;

typedef struct trace_table {
    table_entry *slots; /* open addressing */
    uint32_t slot_count, count;
} trace_table;

/* The entry for a key, made if there is none (*is_new_out says so; its numbers are 0). NULL when
 * memory is out. Valid until the next call. */
table_entry *trace_table_find(trace_table *table, const uint64_t key[TABLE_WORDS],
                              bool *is_new_out);

void trace_table_free(trace_table *table);

#endif
