#ifndef TUTTI_FAULT_H
#define TUTTI_FAULT_H

#include <stddef.h>
#include <stdint.h>

#include "tutti/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Fault plans: what goes wrong in a run, as data. One grammar for the C API, for scripts and for
 * the environment variable TUTTI_FAULTS:
 *
 *   plan   := rule ((";" | newline) rule)*          empty rules and an empty plan are allowed
 *   rule   := point [ "[" key "=" value ("," key "=" value)* "]" ] "=" term ("->" term)*
 *   term   := ( decimal "%" | integer "*" )* action [ "(" argument ")" ]
 *
 *   join[rank=1]=2*refuse(busy)->off                 refuses rank 1 twice
 *   all_reduce[rank=2]=16*off->1*fail(remote)        fails rank 2's 17th all_reduce
 *   send[rank=0-3,peer=4]=10%delay(1.5ms)            delays one message in ten
 *
 * Blanks are free between tokens; a newline always ends a rule; "#" where a rule could begin or end
 * starts a comment up to the end of the line.
 *
 * VALUES. rank, peer and seq take an integer, a range `1-3`, or `*`; group, op and stream take a
 * name or `*`. `*` is the same as leaving the key out. A name is any run of characters but blanks
 * and ` , ; = # " * [ ] ( ) `. A reason is any text whose parentheses balance.
 *
 * TERMS. A rule counts its hits separately for every rank: a hit is a site that fits its point and
 * its keys. It starts at its first term. `N*` applies the term N times, then the next term comes;
 * without a count a term lasts for ever, so nothing may follow it. After a counted last term the
 * rule is off. `p%` applies the term at a hit with that probability; otherwise the rule does
 * nothing at this hit and the count is not used up. So `50%3*delay(1ms)` delays with probability
 * 50 %, at most 3 times, and is the same as `3*50%delay(1ms)`. A choice among several actions is
 * written as several rules.
 *
 * RULES. At a site the first rule in the plan's order acts that fits and whose term applies there
 * and is not `off`. `slow` acts beside it: the first `slow` that applies also makes a delay longer
 * that acts at the same site. Every other rule that fits still counts the hit, so a rule counts the
 * same whatever other rules there are. Random draws depend on the seed, the rule's own text, the
 * rank and the number of the hit, and on nothing else: adding a rule shifts no other, and the order
 * in which ranks arrive decides nothing. */

/* Where faults can happen. Values are ABI: append, never renumber. */
typedef enum tutti_fault_point {
    TUTTI_FAULT_AT_MINT = 0,      /* a call that asks for a group's unique id */
    TUTTI_FAULT_AT_JOIN = 1,      /* a call that joins a communicator */
    TUTTI_FAULT_AT_DATA_TYPE = 2, /* a call that asks how an element type is named */
    TUTTI_FAULT_AT_ENQUEUE = 3,   /* any operation that is put on a stream, see below */
    TUTTI_FAULT_AT_ALL_REDUCE = 4,
    TUTTI_FAULT_AT_BROADCAST = 5,
    TUTTI_FAULT_AT_REDUCE = 6,
    TUTTI_FAULT_AT_ALL_GATHER = 7,
    TUTTI_FAULT_AT_REDUCE_SCATTER = 8,
    TUTTI_FAULT_AT_ALL_TO_ALL = 9,
    TUTTI_FAULT_AT_GATHER = 10,
    TUTTI_FAULT_AT_SCATTER = 11,
    TUTTI_FAULT_AT_BARRIER = 12,
    TUTTI_FAULT_AT_SEND = 13,
    TUTTI_FAULT_AT_RECV = 14,
    TUTTI_FAULT_AT_LEAVE = 15,
    TUTTI_FAULT_AT_ABORT = 16,
    TUTTI_FAULT_AT_SPLIT = 17,
    TUTTI_FAULT_AT_SHRINK = 18,
    TUTTI_FAULT_AT_SYNC = 19,    /* a call that waits for a stream or an event */
    TUTTI_FAULT_AT_POLL = 20,    /* a call that asks whether something is over */
    TUTTI_FAULT_AT_RECORD = 21,  /* an event recorded on a stream */
    TUTTI_FAULT_AT_WAIT = 22,    /* a stream made to wait for an event */
    TUTTI_FAULT_AT_COPY = 23,    /* to, from and on a device */
    TUTTI_FAULT_AT_KERNEL = 24,  /* a launched function */
    TUTTI_FAULT_AT_GROUP = 25,   /* the call that ends a group call */
    TUTTI_FAULT_AT_STEP = 26,    /* any call of a rank that has a status; see below */
    TUTTI_FAULT_AT_ALLOC = 27,   /* a call that allocates device memory */
    TUTTI_FAULT_AT_STREAM = 28,  /* a call that creates a stream or an event */
    TUTTI_FAULT_AT_LINK = 29,    /* data on its way from rank to peer, in whatever operation */
    TUTTI_FAULT_POINT_COUNT = 30 /* not a point */
} tutti_fault_point;

/* What a rule does. Which actions a point takes: tutti_fault_point_actions(). A rule at `enqueue`
 * fits the operations at which all its keys and all its actions are possible. A rule at `step` fits
 * every call of a rank; its key `seq` is the call's number in its rank, from 1. A collective uses
 * the link from each of its members to each other one, a transfer that from the sender. */
typedef enum tutti_fault_kind {
    TUTTI_FAULT_OFF = 0,       /* nothing */
    TUTTI_FAULT_DELAY = 1,     /* delay(duration): it takes that much longer */
    TUTTI_FAULT_REFUSE = 2,    /* refuse(reason): the call returns TUTTI_REFUSED and did nothing */
    TUTTI_FAULT_HANG = 3,      /* it never ends by itself */
    TUTTI_FAULT_KILL = 4,      /* the rank dies there */
    TUTTI_FAULT_DROP = 5,      /* the call says ok; what it enqueued is lost on its way */
    TUTTI_FAULT_CORRUPT = 6,   /* corrupt(bits): that many bits of the data it writes are flipped */
    TUTTI_FAULT_FAIL = 7,      /* fail(status): the call, or later the operation, fails */
    TUTTI_FAULT_SLOW = 8,      /* slow(factor): it takes that many times as long */
    TUTTI_FAULT_KIND_COUNT = 9 /* not an action */
} tutti_fault_kind;

/* What narrows a rule down. Which keys a point takes: tutti_fault_point_keys(). */
typedef enum tutti_fault_key {
    TUTTI_FAULT_KEY_RANK = 0,   /* who makes the call, in the cluster; a link's source */
    TUTTI_FAULT_KEY_GROUP = 1,  /* the name of the communicator's group */
    TUTTI_FAULT_KEY_OP = 2,     /* the name of the reduction: sum, prod, max, min, mean */
    TUTTI_FAULT_KEY_SEQ = 3,    /* the operation's number in its communicator, from 1; a step's */
    TUTTI_FAULT_KEY_STREAM = 4, /* the name of the stream */
    TUTTI_FAULT_KEY_PEER = 5,   /* the other rank of send, recv and link, in the cluster */
    TUTTI_FAULT_KEY_COUNT = 6   /* not a key */
} tutti_fault_key;

enum {
    TUTTI_FAULT_TEXT_BYTES_MAX = 65536,   /* of a whole plan */
    TUTTI_FAULT_RULES_MAX = 256,          /* in a plan */
    TUTTI_FAULT_TERMS_MAX = 64,           /* in a rule */
    TUTTI_FAULT_NAME_BYTES_MAX = 127,     /* of a group, an op or a stream */
    TUTTI_FAULT_REASON_BYTES_MAX = 127,   /* of refuse(reason) */
    TUTTI_FAULT_RANK_COUNT_MAX = 1048576, /* ranks that a rule can name, and a state can serve */
    TUTTI_FAULT_TIMES_MAX = 1000000000,   /* N of `N*` */
    TUTTI_FAULT_BITS_MAX = 1048576,       /* of corrupt(bits) */
    TUTTI_FAULT_FACTOR_MAX = 1000000,     /* of slow(factor), which is at least 1 */
    TUTTI_FAULT_MILLION = 1000000,        /* parts of a factor, and of a percent */
    TUTTI_FAULT_ALWAYS = 100000000,       /* a probability of 100 %, in millionths of a percent */
};

/* What is to be done at a site. Fields that the kind has no use for are zero. */
typedef struct tutti_fault_action {
    tutti_fault_kind kind;
    int32_t rule;               /* index of the rule that acts; -1 when none does */
    tutti_status status;        /* of fail; TUTTI_REFUSED for refuse, TUTTI_KILLED for kill */
    uint32_t bits;              /* of corrupt */
    int64_t delay_ns;           /* of delay */
    uint64_t factor_millionths; /* of slow: 2500000 is slow(2.5); whole, so that times are exact.
                                   With another kind: a slow that acts beside it; 0: none */
    const char *reason;         /* of refuse, borrowed from the plan, never empty; else NULL */
    uint64_t draw;              /* of corrupt, when it acts: a number from the rule's own stream */
    int32_t slow_rule;          /* index of the rule that factor_millionths is from; else 0 */
} tutti_fault_action;

/* One term of a rule. */
typedef struct tutti_fault_term {
    uint32_t probability;      /* millionths of a percent; TUTTI_FAULT_ALWAYS without `p%` */
    uint32_t times;            /* 0 without `N*`: for ever */
    tutti_fault_action action; /* its rule is the index of the term's rule */
} tutti_fault_term;

/* The keys of a rule. */
typedef struct tutti_fault_selector {
    uint32_t keys; /* bit `1 << tutti_fault_key` for each key that narrows; the others are zero */
    int32_t rank_first;
    int32_t rank_last; /* inclusive, like the other two */
    int32_t peer_first;
    int32_t peer_last;
    uint64_t seq_first;
    uint64_t seq_last;
    const char *group;  /* this and the next two are borrowed from the plan */
    const char *op;     /* always the name that tutti_reduce_op_name() gives */
    const char *stream; /* NULL without the key */
} tutti_fault_selector;

/* Where a rule stands in the text of its plan. */
typedef struct tutti_fault_text {
    const char *text;   /* as it was written, not NUL terminated; borrowed from the plan */
    size_t text_bytes;  /* length, without surrounding blanks; 0 when there is no such rule */
    size_t text_offset; /* from the start of the plan's text, bytes */
    int32_t line;       /* in the source's numbers */
    int32_t column;     /* characters, in the source's numbers */
} tutti_fault_text;

/* Where the text of a plan comes from. NULL and zeros stand for {"faults", 1, 1}. */
typedef struct tutti_fault_source {
    const char *name; /* file or variable; borrowed for ever, like tutti_place's file */
    int32_t line;     /* of the text's first character, from 1 */
    int32_t column;   /* of the text's first character, from 1; later lines start at 1 */
} tutti_fault_source;

/* A plan that has been read: never changes, may be shared by any number of states and threads. */
typedef struct tutti_fault_plan tutti_fault_plan;

/* How far each rank has come in each rule of a plan, in one run. */
typedef struct tutti_fault_state tutti_fault_state;

/* A moment at which a fault could happen. Start from tutti_fault_site_at(). */
typedef struct tutti_fault_site {
    tutti_fault_point point; /* the specific one; TUTTI_FAULT_AT_ENQUEUE if there is none */
    int32_t enqueued;        /* not 0: rules at `enqueue` are asked as well */
    int32_t rank;            /* in the cluster; -1, or any number outside of it, when unknown */
    int32_t peer;            /* in the cluster; -1 when there is none */
    uint64_t seq;            /* number in its communicator from 1; 0 when there is none */
    uint64_t step;           /* number of the rank's call from 1: rules at `step` are asked as well;
                                0 when this is no call */
    const char *group;       /* NULL when there is none; borrowed, as the next two, for the call */
    const char *op;          /* tutti_reduce_op_name(); NULL when nothing is reduced */
    const char *stream;      /* NULL when there is none, or it has no name */
} tutti_fault_site;

/* A site of which only point and rank are known. */
static inline tutti_fault_site tutti_fault_site_at(tutti_fault_point point, int32_t rank) {
    tutti_fault_site site;
    site.point = point;
    site.enqueued = 0;
    site.rank = rank;
    site.peer = -1;
    site.seq = 0;
    site.step = 0;
    site.group = NULL;
    site.op = NULL;
    site.stream = NULL;
    return site;
}

/* The names that the grammar uses; "unknown" for values outside of the list. */
const char *tutti_fault_point_name(tutti_fault_point point);
const char *tutti_fault_kind_name(tutti_fault_kind kind);
const char *tutti_fault_key_name(tutti_fault_key key);

/* What a point takes, as a set of bits: `1 << tutti_fault_kind`, `1 << tutti_fault_key`. Nothing
 * for values outside of the list. */
uint32_t tutti_fault_point_actions(tutti_fault_point point);
uint32_t tutti_fault_point_keys(tutti_fault_point point);

/* Reads the text of a plan. The text is copied.
 * Memory: source and error may be NULL; *plan_out is the caller's, for tutti_fault_plan_destroy().
 * Errors: TUTTI_SYNTAX: the message is "name:line:column: what is wrong", then the line, then a
 *         caret below the character; the error's place has name and line.
 *         TUTTI_INVALID_ARGUMENT, TUTTI_OUT_OF_MEMORY. *plan_out is untouched then. */
tutti_status tutti_fault_plan_parse(const char *text, size_t text_bytes,
                                    const tutti_fault_source *source, tutti_fault_plan **plan_out,
                                    tutti_error *error);

/* Frees a plan; its states must be gone before. NULL is accepted. */
void tutti_fault_plan_destroy(tutti_fault_plan *plan);

/* Writes the canonical text: rules joined by "; ", keys in the order of tutti_fault_key, every
 * argument given. Reading it again gives an equal plan, and equal plans have equal texts.
 * Returns the bytes that the whole text needs without the NUL; cut, and NUL terminated, at
 * text_bytes. */
size_t tutti_fault_plan_format(const tutti_fault_plan *plan, char *text, size_t text_bytes);

/* The same for one rule; an empty text when there is no such rule. */
size_t tutti_fault_rule_format(const tutti_fault_plan *plan, uint32_t rule, char *text,
                               size_t text_bytes);

/* How many rules a plan has; they are numbered from 0. NULL has none. */
uint32_t tutti_fault_rule_count(const tutti_fault_plan *plan);

/* A rule's point; TUTTI_FAULT_POINT_COUNT when there is no such rule. */
tutti_fault_point tutti_fault_rule_point(const tutti_fault_plan *plan, uint32_t rule);

/* A rule's keys; NULL when there is no such rule. Borrowed from the plan. */
const tutti_fault_selector *tutti_fault_rule_selector(const tutti_fault_plan *plan, uint32_t rule);

/* How many terms a rule has; 0 when there is no such rule. */
uint32_t tutti_fault_rule_term_count(const tutti_fault_plan *plan, uint32_t rule);

/* A rule's term; NULL when there is none with this number. Borrowed from the plan. */
const tutti_fault_term *tutti_fault_rule_term(const tutti_fault_plan *plan, uint32_t rule,
                                              uint32_t term);

/* A rule as it was written, and where. */
tutti_fault_text tutti_fault_rule_text(const tutti_fault_plan *plan, uint32_t rule);

/* Fills an error that concerns one rule, in the layout of the parser's: place, message, the line
 * and a caret below the rule. For those who cannot carry a rule out. Returns the status. */
tutti_status tutti_fault_rule_error(const tutti_fault_plan *plan, uint32_t rule,
                                    tutti_status status, const char *message, tutti_error *error);

/* Starts a plan for a run: no rule has had a hit.
 * Memory: the plan is borrowed until tutti_fault_state_destroy(); NULL is an empty plan. A rule
 *         takes 24 bytes for each rank that it can fit, so one that names a rank takes 24.
 * Errors: TUTTI_INVALID_ARGUMENT: rank_count is not in 1 .. TUTTI_FAULT_RANK_COUNT_MAX, or a rule
 *         names only ranks or peers that do not exist, and could never act;
 *         TUTTI_OUT_OF_MEMORY. *state_out is untouched then. */
tutti_status tutti_fault_state_create(const tutti_fault_plan *plan, int32_t rank_count,
                                      uint64_t seed, tutti_fault_state **state_out,
                                      tutti_error *error);

/* Asked at every hit of a term with a probability; `drawn` says whether the state has drawn it.
 * Returns whether it applies. */
typedef int tutti_fault_chance(void *context, int drawn);

/* Lets somebody else decide what is left to chance. NULL: the state's own draws. */
void tutti_fault_state_set_chance(tutti_fault_state *state, tutti_fault_chance *chance,
                                  void *context);

/* Frees a state. NULL is accepted. */
void tutti_fault_state_destroy(tutti_fault_state *state);

/* Makes a state as if it had been created with this seed just now. */
void tutti_fault_state_reset(tutti_fault_state *state, uint64_t seed);

/* Counts a hit for every rule that fits the site and says what is to be done there. Returns 1 when
 * *action_out is something to do, else 0, and *action_out has kind off and rule -1. A state of NULL
 * never acts.
 * Threads: calls for different ranks may overlap; those for one rank, or for unknown ranks, not. */
int tutti_fault_decide(tutti_fault_state *state, const tutti_fault_site *site,
                       tutti_fault_action *action_out);

/* The points that have a rule, as bits `1 << tutti_fault_point`. At others decide() is not needed:
 * a site that is enqueued needs the bit of its point or that of `enqueue`, one that is a call
 * needs that of `step` as well. 0 for NULL. */
uint32_t tutti_fault_state_points(const tutti_fault_state *state);

/* How many sites a rule has fitted so far, over all ranks; 0 when there is no such rule.
 * Threads: no decide() at the same time. */
uint64_t tutti_fault_state_hits(const tutti_fault_state *state, uint32_t rule);

/* How often a rule has acted so far, over all ranks: 0 says that it never fired. Off does not
 * count, nor a hit at which an earlier rule acted.
 * Threads: no decide() at the same time. */
uint64_t tutti_fault_state_fired(const tutti_fault_state *state, uint32_t rule);

/* The longest duration that texts can give: 876000 hours, a hundred years. The sum of two of them
 * fits into an int64_t. */
#define TUTTI_DURATION_NS_MAX INT64_C(3153600000000000000)

/* Reads a duration: a decimal number and a unit of ns, us, ms, s, m, min or h, both m and min being
 * minutes. "5ms", "1.5 s". Blanks around are ignored.
 * Errors: TUTTI_SYNTAX: not a duration; TUTTI_INVALID_ARGUMENT: longer than TUTTI_DURATION_NS_MAX,
 *         or not a whole number of nanoseconds. *ns_out is untouched then. */
tutti_status tutti_duration_parse(const char *text, size_t text_bytes, int64_t *ns_out);

/* Writes a duration so that tutti_duration_parse() gives the same one: "5ms", "1.5s", "30min"; the
 * formatter takes negative ones as well ("-5ms"). Returns the bytes that the text needs without
 * the NUL; cut, and NUL terminated, at text_bytes. */
size_t tutti_duration_format(int64_t ns, char *text, size_t text_bytes);

#ifdef __cplusplus
}
#endif

#endif
