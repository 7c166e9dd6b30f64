#ifndef TUTTI_EMU_SCRIPT_H
#define TUTTI_EMU_SCRIPT_H

/* A `.tut` script as data: read, checked, and ready to be stepped through by any number of ranks.
 *
 * One program serves all ranks, nothing is copied per rank. A rank runs the sections that name it,
 * in the order of the file (emu_script_next_section); a section is a run of the flat array of
 * statements; blocks carry the index to jump to. So all that an interpreter keeps for a rank is a
 * section, an index, and a counter for each of `loop_depth` nested repeats.
 *
 * Names are resolved to indices. Whatever a script can get wrong without running is refused when it
 * is read; what only a run can show (a rank that is no member of the group that it uses, a
 * destination that is too small, a peer that the communicator lacks) is left to the run.
 *
 * Everything lives in one arena and is never changed after reading, so ranks, and threads, may
 * share it. Places are lines and columns from 1; a column counts bytes, a tab is one, the byte
 * order mark of a file is none. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drivers/emu/arena.h"
#include "tutti/emu.h"
#include "tutti/fault.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a script may hold at most; more is refused with the limit's number. */
enum {
    TUTTI_SCRIPT_RANKS_MAX = TUTTI_RANKS_MAX,  /* `ranks` */
    EMU_SCRIPT_BYTES_MAX = 16 * 1024 * 1024,   /* of the text */
    EMU_SCRIPT_LINE_BYTES_MAX = 64 * 1024,     /* of one line, without its ending */
    EMU_SCRIPT_STATEMENTS_MAX = 1024 * 1024,   /* of all sections */
    EMU_SCRIPT_RANGES_MAX = 1024 * 1024,       /* of ranks, of all sections, written as 1-3 or 5 */
    EMU_SCRIPT_NAMES_MAX = 64 * 1024,          /* of buffers, groups, streams and events */
    EMU_SCRIPT_NAME_BYTES_MAX = 63,            /* of one name */
    EMU_SCRIPT_BUFFERS_MAX = 64 * 1024,        /* declarations of buffers */
    EMU_SCRIPT_BUFFER_RANGES_MAX = 256 * 1024, /* of ranks, of all declarations of buffers */
    EMU_SCRIPT_HOLDER_CHECKS_MAX = 16 * 1024 * 1024, /* a rank, or a run of ranks with one buffer,
                                                        looked at to check a section's use of it */
    EMU_SCRIPT_NESTING_MAX = 32,                     /* open repeats and group calls */
    EMU_SCRIPT_REPEAT_MAX = 1000000000,              /* rounds of one repeat */
    EMU_SCRIPT_CAPACITY_MAX = 1000000,               /* `capacity` */
};
#define EMU_SCRIPT_BUFFER_BYTES_MAX (UINT64_C(1) << 40) /* of one buffer of one rank */

/* An index that stands for none. */
#define EMU_SCRIPT_NONE UINT32_MAX

/* --- Ranks --- */

/* The ranks first, first + 1, ... last. */
typedef struct emu_rank_range {
    int32_t first;
    int32_t last; /* at least first */
} emu_rank_range;

/* A set of world ranks: disjoint ranges, ascending, with a gap between any two. */
typedef struct emu_rank_set {
    const emu_rank_range *ranges;
    uint32_t range_count;
    int32_t rank_count; /* members */
} emu_rank_set;

/* Whether a rank is in the set. O(log range_count). */
bool emu_rank_set_has(const emu_rank_set *set, int32_t rank);

/* A run of a group's members: world ranks first to last are the communicator's ranks from
 * `first_member` on. */
typedef struct emu_script_members {
    int32_t first;        /* world rank */
    int32_t last;         /* world rank */
    int32_t first_member; /* rank in the communicator of world rank `first` */
} emu_script_members;

/* A communicator that the script knows by name. Its ranks are numbered as the script lists them:
 * in `group g = 3 0-2`, world rank 3 is rank 0 of g. */
typedef struct emu_script_group {
    const char *name;
    int32_t line; /* that declares it, or names it first (derived); 0: world */
    bool derived; /* made by split or shrink: members are known to the run only */
    const emu_script_members *members; /* in the order of the list */
    uint32_t members_count;
    const emu_script_members *by_rank; /* the same by world rank, disjoint; see repeated_rank */
    uint32_t by_rank_count;
    int32_t rank_count;    /* of the communicator; a rank listed twice counts twice; 0: derived */
    int32_t repeated_rank; /* the lowest world rank that is listed twice, to be refused by the
                              join; by_rank has its first place only; -1: none */
} emu_script_group;

/* The rank in the communicator of a world rank; -1 when it is no member. O(log by_rank_count). */
int32_t emu_script_group_member(const emu_script_group *group, int32_t world_rank);

/* The world rank of a rank in the communicator; -1 when there is none. O(log members_count). */
int32_t emu_script_group_world_rank(const emu_script_group *group, int32_t member);

/* --- Names, buffers, values --- */

/* A name that comes into being by use: of a stream or an event. Every rank has its own. */
typedef struct emu_script_name {
    const char *name;
    int32_t line;  /* that uses it first; 0: predeclared */
    bool produced; /* streams: some statement enqueues something there; events: some statement
                      records it. False hints at a misspelling; CUDA would not mind */
} emu_script_name;

/* Streams that exist without being named. */
enum {
    EMU_SCRIPT_STREAM_COMPUTE = 0, /* of kernel, record and wait without `on` */
    EMU_SCRIPT_STREAM_COMM = 1,    /* of communication without `on` */
};

/* A number as it was written; every form is exact. */
typedef enum emu_script_value_kind {
    EMU_SCRIPT_VALUE_U64, /* a whole number from 0 */
    EMU_SCRIPT_VALUE_I64, /* a negative whole number, or -0 */
    EMU_SCRIPT_VALUE_F64, /* inf, nan, or with a point or an exponent: the nearest f64; also whole
                             numbers for floats that no 64 bits hold */
} emu_script_value_kind;

typedef struct emu_script_value {
    emu_script_value_kind kind;
    union {
        uint64_t u64;
        int64_t i64;
        double f64;
    } as;
} emu_script_value;

/* What the elements of a buffer, or of a slice that `expect` looks at, are. */
typedef enum emu_script_fill_kind {
    EMU_SCRIPT_FILL_ZERO,
    EMU_SCRIPT_FILL_RANK,   /* each is the world rank that holds the buffer */
    EMU_SCRIPT_FILL_IOTA,   /* 0, 1, 2, ... from the start of the buffer, or of the slice */
    EMU_SCRIPT_FILL_VALUES, /* as listed; value_count 1: that value for all elements */
    EMU_SCRIPT_FILL_UNSET,  /* undefined; buffers only */
} emu_script_fill_kind;

/* Values fit the element type: integers are in its range; floats are rounded to it by the run. rank
 * and iota wrap or round. */
typedef struct emu_script_fill {
    emu_script_fill_kind kind;
    const emu_script_value *values; /* NULL unless kind is VALUES */
    uint64_t value_count;           /* 1 or the count of elements; 0 unless kind is VALUES */
} emu_script_fill;

/* One `buffer` line: each of `ranks` has a buffer of its own, from the start of the run on. Types
 * that are not carried have fill ZERO or UNSET. */
typedef struct emu_script_buffer {
    uint32_t name; /* in buffer_names */
    int32_t line;
    int32_t column;
    tutti_element_type type;
    uint32_t width_bytes; /* of one element; see emu_script_type_width_bytes */
    uint64_t count;       /* elements; 0 is allowed */
    emu_script_fill fill;
    emu_rank_set ranks;
} emu_script_buffer;

/* Who has a buffer of a name, and from which line: ranks first to last have buffers[buffer]. */
typedef struct emu_script_holding {
    int32_t first;
    int32_t last;
    uint32_t buffer;
} emu_script_holding;

/* A name of buffers, which may differ from rank to rank. */
typedef struct emu_script_buffer_name {
    const char *name;
    const emu_script_holding *holdings; /* disjoint, by rank */
    uint32_t holding_count;
} emu_script_buffer_name;

/* A part of a buffer, the same elements on every rank that runs the statement; inside of the
 * buffer of each of these ranks. */
typedef struct emu_script_slice {
    uint32_t name;  /* in buffer_names */
    uint64_t first; /* element */
    uint64_t count; /* elements; EMU_SCRIPT_WHOLE: the whole buffer of the rank */
} emu_script_slice;
#define EMU_SCRIPT_WHOLE UINT64_MAX

/* The width of one element: of uncarried types index 8, bool 1, i16 2, u16 2, complex 8, tf32 4,
 * flex32 4, the 4- and 6-bit floats and ue8m0 1; 0 for what is no type. */
uint32_t emu_script_type_width_bytes(tutti_element_type type);

/* --- Statements --- */

/* Of these, emu_script_parse() refuses in this version: broadcast, reduce, all_gather,
 * reduce_scatter, all_to_all, gather, scatter, barrier, split and shrink. */
typedef enum emu_script_kind {
    EMU_SCRIPT_ALL_REDUCE,
    EMU_SCRIPT_BROADCAST,
    EMU_SCRIPT_REDUCE,
    EMU_SCRIPT_ALL_GATHER,
    EMU_SCRIPT_REDUCE_SCATTER,
    EMU_SCRIPT_ALL_TO_ALL,
    EMU_SCRIPT_GATHER,
    EMU_SCRIPT_SCATTER,
    EMU_SCRIPT_BARRIER,
    EMU_SCRIPT_SEND,
    EMU_SCRIPT_RECV,
    EMU_SCRIPT_GROUP_START, /* `start` */
    EMU_SCRIPT_GROUP_END,   /* the `end` of a start */
    EMU_SCRIPT_RECORD,
    EMU_SCRIPT_WAIT,
    EMU_SCRIPT_KERNEL,
    EMU_SCRIPT_SYNC, /* the host waits for stream, event or group, or for all streams: no index */
    EMU_SCRIPT_POLL, /* the host looks whether stream, event or group is ready */
    EMU_SCRIPT_HOST, /* the host itself reads and writes slices */
    EMU_SCRIPT_FREE, /* writes[0], always a whole buffer */
    EMU_SCRIPT_SLEEP,
    EMU_SCRIPT_JOIN,
    EMU_SCRIPT_LEAVE,
    EMU_SCRIPT_ABORT,
    EMU_SCRIPT_SPLIT,
    EMU_SCRIPT_SHRINK,
    EMU_SCRIPT_REPEAT,
    EMU_SCRIPT_REPEAT_END, /* the `end` of a repeat */
    EMU_SCRIPT_EXPECT,
    EMU_SCRIPT_EXIT,
    EMU_SCRIPT_KIND_COUNT, /* not a kind */
} emu_script_kind;

/* The word that a statement starts with ("all_reduce"; "end" for both ends). */
const char *emu_script_kind_name(emu_script_kind kind);

/* What split and shrink need beside the parent, which is the statement's group. */
typedef struct emu_script_derivation {
    uint32_t group;       /* the new communicator, in groups; NONE: split with color none */
    int32_t color;        /* split; -1: none, this rank becomes a member of nothing */
    int32_t key;          /* split; 0 unless given */
    emu_rank_set without; /* shrink: ranks of the parent, at least one */
} emu_script_derivation;

/* One statement. What a kind does not use is 0, NULL, EMU_SCRIPT_NONE or -1. */
typedef struct emu_script_statement {
    emu_script_kind kind;
    int32_t line; /* of its first word */
    int32_t column;
    uint32_t group;       /* in groups: communication (world unless given), join, leave, abort,
                             sync, poll, the parent of split and shrink */
    uint32_t stream;      /* in streams: communication, record, wait, kernel, sync, poll */
    uint32_t event;       /* in events: record, wait, sync, poll */
    tutti_reduce_op op;   /* all_reduce, reduce, reduce_scatter */
    int32_t peer;         /* of send and recv, root of others: a rank of the communicator used,
                             as NCCL has it; below the world's size, whatever the group's is */
    uint32_t read_count;  /* communication: 1 source, or 0 (recv, barrier) */
    uint32_t write_count; /* communication: 1 destination, or 0 (send, barrier) */
    const emu_script_slice *reads;
    const emu_script_slice *writes;          /* == reads when the operation is in place */
    const emu_script_fill *expected;         /* expect, of reads[0] */
    const emu_script_derivation *derivation; /* split, shrink */
    int64_t duration_ns;                     /* sleep; kernel: 0 unless given */
    uint32_t repeat_count;                   /* repeat: rounds; 0: skip to behind the end */
    uint32_t partner;  /* in statements: a block's other end; to leave or skip a repeat, go on
                          behind its end, for the next round behind its start */
    uint32_t loop;     /* repeat and its end: how many repeats are around it, which is the index
                          of its counter */
    bool non_blocking; /* join */
} emu_script_statement;

/* What a set of ranks runs: statements[first_statement ... + statement_count]. Blocks are closed
 * within it. A rank may be named by several sections. */
typedef struct emu_script_section {
    int32_t line;
    emu_rank_set ranks;
    uint32_t first_statement;
    uint32_t statement_count; /* 0 is possible */
} emu_script_section;

/* --- The script --- */

/* One `device` line: the ranks use the device with the given number instead of their own. */
typedef struct emu_script_placement {
    int32_t first; /* world ranks first to last */
    int32_t last;
    int32_t device; /* 0 to rank_count - 1 */
} emu_script_placement;

/* How the run has to end. */
typedef struct emu_script_verdict {
    tutti_verdict kind;
    int32_t line;          /* 0: the script has none, and ok is meant */
    emu_rank_set culprits; /* no ranges: none are given */
} emu_script_verdict;

/* Each section's ranks cut into the nodes of a segment tree, so that a rank's next section is
 * found without looking at those of others. For emu_script_next_section() only. */
typedef struct emu_script_section_index {
    uint32_t leaf_count;      /* power of two, at least rank_count */
    const uint32_t *starts;   /* of each node's entries; 2 * leaf_count + 1 */
    const uint32_t *sections; /* entries: ascending within a node */
} emu_script_section_index;

typedef struct emu_script {
    const char *file; /* a copy, "script" when none was given */
    int32_t rank_count;
    uint32_t capacity;  /* collectives a device runs at once; 0: unlimited */
    int64_t timeout_ns; /* of every blocking wait; 0: none */
    bool first_use_blocks;
    bool tolerate_group_order;
    emu_script_verdict verdict;
    const char *faults; /* all `fault` lines as the text of one plan, checked; "" without any.
                           Padded so that places in it are those in the file, when it is read
                           as {file, faults_line, 1} */
    size_t faults_bytes;
    int32_t faults_line;                    /* of the first one; 1 without any */
    const emu_script_placement *placements; /* disjoint, by rank */
    uint32_t placement_count;
    const emu_script_group *groups; /* 0 is world */
    uint32_t group_count;
    const emu_script_name *streams; /* 0 is compute, 1 is comm */
    uint32_t stream_count;
    const emu_script_name *events;
    uint32_t event_count;
    const emu_script_buffer *buffers;
    uint32_t buffer_count;
    const emu_script_buffer_name *buffer_names;
    uint32_t buffer_name_count;
    const emu_script_section *sections;
    uint32_t section_count;
    const emu_script_statement *statements;
    uint32_t statement_count;
    uint32_t loop_depth; /* counters that a rank needs: the deepest nesting of repeats */
    emu_script_section_index section_index;
    emu_arena arena; /* holds all of it */
} emu_script;

/* The world's index in groups. */
enum { EMU_SCRIPT_WORLD = 0 };

/* Reads a script and checks it. Only the first error is told: `file:line:column: what is wrong`,
 * then the line and a caret under the place, on lines of their own; error->place has file and line.
 * Memory:   text and file are copied as far as needed, except that error->place borrows file as
 *           every tutti_place does. file may be NULL: "script". *script_out is the caller's, for
 *           emu_script_free()
 * Threads:  calls are independent
 * Errors:   TUTTI_SYNTAX: it cannot be read; TUTTI_UNSUPPORTED: there is nothing wrong with it, but
 *           it needs what this version has not (the message names the first such thing);
 *           TUTTI_OUT_OF_MEMORY, TUTTI_INVALID_ARGUMENT (text NULL with text_bytes > 0).
 *           *script_out is untouched */
tutti_status emu_script_parse(const char *text, size_t text_bytes, const char *file,
                              emu_script **script_out, tutti_error *error);

/* Frees a script and everything that its fields point to. NULL does nothing. */
void emu_script_free(emu_script *script);

/* The first section from index `from` on that names the rank; section_count when there is none:
 * `s = next(script, r, 0); s < section_count; s = next(script, r, s + 1)` is the rank's program.
 * O(log rank_count * log section_count). */
uint32_t emu_script_next_section(const emu_script *script, int32_t rank, uint32_t from);

/* The buffer that a rank has under a name (index in buffer_names); NULL when it has none, which
 * does not happen for a name in a statement that the rank runs. O(log holding_count). */
const emu_script_buffer *emu_script_buffer_of(const emu_script *script, uint32_t name,
                                              int32_t rank);

/* The number of elements of a slice on a rank that has the buffer. */
uint64_t emu_script_slice_count(const emu_script *script, const emu_script_slice *slice,
                                int32_t rank);

/* The device that a rank uses: its own number unless the script says otherwise. */
int32_t emu_script_device_of(const emu_script *script, int32_t rank);

/* The group with a name, as an index in groups; EMU_SCRIPT_NONE when there is none. */
uint32_t emu_script_group_find(const emu_script *script, const char *name, size_t name_bytes);

#ifdef __cplusplus
}
#endif

#endif
