/* The words of fault plans: points, actions and keys, which of them go together, and what a
 * mistyped one most likely meant. */

#include "fault_internal.h"

#include <assert.h>
#include <string.h>

#define BIT(name) (UINT32_C(1) << TUTTI_FAULT_##name)

enum {
    /* What any call can meet. */
    ACTIONS_CALL = BIT(OFF) | BIT(DELAY) | BIT(REFUSE) | BIT(HANG) | BIT(KILL) | BIT(FAIL),
    /* An operation on a stream: it can also be lost, and, if it takes time, take longer. */
    ACTIONS_MARK = ACTIONS_CALL | BIT(DROP),
    ACTIONS_TIMED = ACTIONS_MARK | BIT(SLOW),
    ACTIONS_DATA = ACTIONS_TIMED | BIT(CORRUPT),
    /* A step may be any call, so it takes what all of them take; some of them take time. */
    ACTIONS_STEP = ACTIONS_CALL | BIT(SLOW),
    /* Where no call stands, nothing can be refused; a link has no process that could be killed. */
    ACTIONS_LINK = ACTIONS_DATA & ~(BIT(REFUSE) | BIT(KILL)),

    KEYS_CALL = BIT(KEY_RANK),
    KEYS_MEMBER = KEYS_CALL | BIT(KEY_GROUP),
    KEYS_ON_STREAM = KEYS_CALL | BIT(KEY_STREAM),
    KEYS_COLLECTIVE = KEYS_MEMBER | BIT(KEY_SEQ) | BIT(KEY_STREAM),
    KEYS_REDUCTION = KEYS_COLLECTIVE | BIT(KEY_OP),
    KEYS_MESSAGE = KEYS_COLLECTIVE | BIT(KEY_PEER),
    KEYS_STEP = KEYS_CALL | BIT(KEY_SEQ),
    KEYS_LINK = KEYS_MEMBER | BIT(KEY_SEQ) | BIT(KEY_PEER),
};

static const char *const point_names[TUTTI_FAULT_POINT_COUNT] = {
    [TUTTI_FAULT_AT_MINT] = "mint",
    [TUTTI_FAULT_AT_JOIN] = "join",
    [TUTTI_FAULT_AT_DATA_TYPE] = "data_type",
    [TUTTI_FAULT_AT_ENQUEUE] = "enqueue",
    [TUTTI_FAULT_AT_ALL_REDUCE] = "all_reduce",
    [TUTTI_FAULT_AT_BROADCAST] = "broadcast",
    [TUTTI_FAULT_AT_REDUCE] = "reduce",
    [TUTTI_FAULT_AT_ALL_GATHER] = "all_gather",
    [TUTTI_FAULT_AT_REDUCE_SCATTER] = "reduce_scatter",
    [TUTTI_FAULT_AT_ALL_TO_ALL] = "all_to_all",
    [TUTTI_FAULT_AT_GATHER] = "gather",
    [TUTTI_FAULT_AT_SCATTER] = "scatter",
    [TUTTI_FAULT_AT_BARRIER] = "barrier",
    [TUTTI_FAULT_AT_SEND] = "send",
    [TUTTI_FAULT_AT_RECV] = "recv",
    [TUTTI_FAULT_AT_LEAVE] = "leave",
    [TUTTI_FAULT_AT_ABORT] = "abort",
    [TUTTI_FAULT_AT_SPLIT] = "split",
    [TUTTI_FAULT_AT_SHRINK] = "shrink",
    [TUTTI_FAULT_AT_SYNC] = "sync",
    [TUTTI_FAULT_AT_POLL] = "poll",
    [TUTTI_FAULT_AT_RECORD] = "record",
    [TUTTI_FAULT_AT_WAIT] = "wait",
    [TUTTI_FAULT_AT_COPY] = "copy",
    [TUTTI_FAULT_AT_KERNEL] = "kernel",
    [TUTTI_FAULT_AT_GROUP] = "group",
    [TUTTI_FAULT_AT_STEP] = "step",
    [TUTTI_FAULT_AT_ALLOC] = "alloc",
    [TUTTI_FAULT_AT_STREAM] = "stream",
    [TUTTI_FAULT_AT_LINK] = "link",
};

static const char *const kind_names[TUTTI_FAULT_KIND_COUNT] = {
    [TUTTI_FAULT_OFF] = "off",         [TUTTI_FAULT_DELAY] = "delay",
    [TUTTI_FAULT_REFUSE] = "refuse",   [TUTTI_FAULT_HANG] = "hang",
    [TUTTI_FAULT_KILL] = "kill",       [TUTTI_FAULT_DROP] = "drop",
    [TUTTI_FAULT_CORRUPT] = "corrupt", [TUTTI_FAULT_FAIL] = "fail",
    [TUTTI_FAULT_SLOW] = "slow",
};

static const char *const key_names[TUTTI_FAULT_KEY_COUNT] = {
    [TUTTI_FAULT_KEY_RANK] = "rank",     [TUTTI_FAULT_KEY_GROUP] = "group",
    [TUTTI_FAULT_KEY_OP] = "op",         [TUTTI_FAULT_KEY_SEQ] = "seq",
    [TUTTI_FAULT_KEY_STREAM] = "stream", [TUTTI_FAULT_KEY_PEER] = "peer",
};

/* What a point takes, as bits. */
typedef struct point_traits {
    uint32_t actions;
    uint32_t keys;
} point_traits;

static const point_traits traits[TUTTI_FAULT_POINT_COUNT] = {
    [TUTTI_FAULT_AT_MINT] = {ACTIONS_CALL, KEYS_MEMBER},
    [TUTTI_FAULT_AT_JOIN] = {ACTIONS_CALL, KEYS_MEMBER},
    [TUTTI_FAULT_AT_DATA_TYPE] = {ACTIONS_CALL, KEYS_CALL},
    [TUTTI_FAULT_AT_ENQUEUE] = {ACTIONS_DATA, KEYS_REDUCTION},
    [TUTTI_FAULT_AT_ALL_REDUCE] = {ACTIONS_DATA, KEYS_REDUCTION},
    [TUTTI_FAULT_AT_BROADCAST] = {ACTIONS_DATA, KEYS_COLLECTIVE},
    [TUTTI_FAULT_AT_REDUCE] = {ACTIONS_DATA, KEYS_REDUCTION},
    [TUTTI_FAULT_AT_ALL_GATHER] = {ACTIONS_DATA, KEYS_COLLECTIVE},
    [TUTTI_FAULT_AT_REDUCE_SCATTER] = {ACTIONS_DATA, KEYS_REDUCTION},
    [TUTTI_FAULT_AT_ALL_TO_ALL] = {ACTIONS_DATA, KEYS_COLLECTIVE},
    [TUTTI_FAULT_AT_GATHER] = {ACTIONS_DATA, KEYS_COLLECTIVE},
    [TUTTI_FAULT_AT_SCATTER] = {ACTIONS_DATA, KEYS_COLLECTIVE},
    [TUTTI_FAULT_AT_BARRIER] = {ACTIONS_TIMED, KEYS_COLLECTIVE},
    [TUTTI_FAULT_AT_SEND] = {ACTIONS_DATA, KEYS_MESSAGE},
    [TUTTI_FAULT_AT_RECV] = {ACTIONS_DATA, KEYS_MESSAGE},
    [TUTTI_FAULT_AT_LEAVE] = {ACTIONS_CALL, KEYS_MEMBER},
    [TUTTI_FAULT_AT_ABORT] = {ACTIONS_CALL, KEYS_MEMBER},
    [TUTTI_FAULT_AT_SPLIT] = {ACTIONS_CALL, KEYS_MEMBER},
    [TUTTI_FAULT_AT_SHRINK] = {ACTIONS_CALL, KEYS_MEMBER},
    [TUTTI_FAULT_AT_SYNC] = {ACTIONS_CALL, KEYS_ON_STREAM},
    [TUTTI_FAULT_AT_POLL] = {ACTIONS_CALL, KEYS_MEMBER | KEYS_ON_STREAM},
    [TUTTI_FAULT_AT_RECORD] = {ACTIONS_MARK, KEYS_ON_STREAM},
    [TUTTI_FAULT_AT_WAIT] = {ACTIONS_MARK, KEYS_ON_STREAM},
    [TUTTI_FAULT_AT_COPY] = {ACTIONS_DATA, KEYS_ON_STREAM},
    [TUTTI_FAULT_AT_KERNEL] = {ACTIONS_DATA, KEYS_ON_STREAM},
    [TUTTI_FAULT_AT_GROUP] = {ACTIONS_CALL, KEYS_CALL},
    [TUTTI_FAULT_AT_STEP] = {ACTIONS_STEP, KEYS_STEP},
    [TUTTI_FAULT_AT_ALLOC] = {ACTIONS_CALL, KEYS_CALL},
    [TUTTI_FAULT_AT_STREAM] = {ACTIONS_CALL, KEYS_ON_STREAM},
    [TUTTI_FAULT_AT_LINK] = {ACTIONS_LINK, KEYS_LINK},
};

static_assert(TUTTI_FAULT_POINT_COUNT <= 31, "sets of points are bits of an enumeration's int");

const char *const *fault_point_names(void) {
    return point_names;
}

const char *const *fault_kind_names(void) {
    return kind_names;
}

const char *const *fault_key_names(void) {
    return key_names;
}

const char *tutti_fault_point_name(tutti_fault_point point) {
    return (unsigned)point < TUTTI_FAULT_POINT_COUNT ? point_names[point] : "unknown";
}

const char *tutti_fault_kind_name(tutti_fault_kind kind) {
    return (unsigned)kind < TUTTI_FAULT_KIND_COUNT ? kind_names[kind] : "unknown";
}

const char *tutti_fault_key_name(tutti_fault_key key) {
    return (unsigned)key < TUTTI_FAULT_KEY_COUNT ? key_names[key] : "unknown";
}

uint32_t tutti_fault_point_actions(tutti_fault_point point) {
    return (unsigned)point < TUTTI_FAULT_POINT_COUNT ? traits[point].actions : 0;
}

uint32_t tutti_fault_point_keys(tutti_fault_point point) {
    return (unsigned)point < TUTTI_FAULT_POINT_COUNT ? traits[point].keys : 0;
}

const char *fault_action_obstacle(tutti_fault_point point, tutti_fault_kind kind) {
    switch (kind) {
    case TUTTI_FAULT_REFUSE:
        return "no call stands there that could be refused";
    case TUTTI_FAULT_KILL:
        return "there is no process that could be killed";
    case TUTTI_FAULT_DROP:
        return point == TUTTI_FAULT_AT_STEP ? "a step may be any call, and not all can be lost"
                                            : "it puts nothing on a stream that could be lost";
    case TUTTI_FAULT_CORRUPT:
        return "it writes no data";
    case TUTTI_FAULT_SLOW:
        return "it has no duration that could be longer";
    default:
        return NULL;
    }
}

uint32_t fault_enqueued_points(void) {
    uint32_t points = BIT(AT_ENQUEUE) | BIT(AT_RECORD) | BIT(AT_WAIT) | BIT(AT_COPY);
    points |= BIT(AT_KERNEL);
    for (int point = TUTTI_FAULT_AT_ALL_REDUCE; point <= TUTTI_FAULT_AT_RECV; point++) {
        points |= UINT32_C(1) << point;
    }
    return points;
}

int fault_name_find(const char *const *names, int count, const char *word, size_t word_bytes) {
    for (int i = 0; i < count; i++) {
        if (names[i] != NULL && strlen(names[i]) == word_bytes &&
            memcmp(names[i], word, word_bytes) == 0) {
            return i;
        }
    }
    return -1;
}

static char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static int least(int a, int b) {
    return a < b ? a : b;
}

/* How many letters must be inserted, deleted, replaced or swapped with their neighbour to make a
 * name of a word. Both are at most FAULT_WORD_BYTES long. */
static int edit_distance(const char *name, int name_bytes, const char *word, int word_bytes) {
    int rows[3][FAULT_WORD_BYTES + 1]; /* the last three rows of the table, i modulo 3 */

    assert(name_bytes <= FAULT_WORD_BYTES);
    assert(word_bytes <= FAULT_WORD_BYTES);
    for (int j = 0; j <= word_bytes; j++) {
        rows[0][j] = j;
    }
    for (int i = 1; i <= name_bytes; i++) {
        int *row = rows[i % 3];
        const int *above = rows[(i + 2) % 3];
        row[0] = i;
        for (int j = 1; j <= word_bytes; j++) {
            const char letter = lower(word[j - 1]);
            row[j] = least(least(row[j - 1], above[j]) + 1, above[j - 1] + (name[i - 1] != letter));
            if (i > 1 && j > 1 && name[i - 1] == lower(word[j - 2]) && name[i - 2] == letter) {
                row[j] = least(row[j], rows[(i + 1) % 3][j - 2] + 1);
            }
        }
    }
    return rows[name_bytes % 3][word_bytes];
}

const char *fault_name_suggest(const char *const *names, int count, const char *word,
                               size_t word_bytes) {
    const char *best = NULL;
    int best_distance = 0;

    if (word_bytes == 0 || word_bytes > FAULT_WORD_BYTES) {
        return NULL;
    }
    for (int i = 0; i < count; i++) {
        if (names[i] == NULL || strlen(names[i]) > FAULT_WORD_BYTES) {
            continue;
        }
        const int length = (int)strlen(names[i]);
        const int distance = edit_distance(names[i], length, word, (int)word_bytes);
        /* A third of the letters may be wrong, but one always: "of" is off. */
        if (distance <= least(length / 3 > 0 ? length / 3 : 1, length - 1) &&
            (best == NULL || distance < best_distance)) {
            best = names[i];
            best_distance = distance;
        }
    }
    return best;
}
