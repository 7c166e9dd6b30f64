#include "drivers/emu/strands.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct emu_moment {
    uint32_t references;
    uint16_t size_class; /* log2 of the times that it has room for */
    uint32_t count;
    union {
        emu_domain *domain;
        emu_moment *next_free;
    } of;
    emu_known *known;
    uint32_t times[];
};

/* --- Trees of times ---
 *
 * A node with one reference belongs to whoever holds it and is changed in place; one that is shared
 * is never changed. Level 0 are the leaves. A missing node is all zero. */

enum {
    EMU_FAN_BITS = 4,
    EMU_FAN = 1 << EMU_FAN_BITS,
    EMU_LEVELS_MAX = 32 / EMU_FAN_BITS,
    EMU_LEVELS_MIN = 2,
    EMU_NODES_PER_BLOCK = 32,
    EMU_MOMENT_BLOCK_BYTES = 4096,
};

struct emu_known {
    uint32_t references;
};

typedef struct emu_leaf {
    emu_known base;
    uint32_t times[EMU_FAN];
    emu_known *next_free;
} emu_leaf;

/* Roots that were made one from the other form a chain, in which a later one has all that an
 * earlier one has: so the usual comparison, with what was known one collective ago, costs nothing.
 */
typedef struct emu_inner {
    emu_known base;
    uint32_t generation; /* roots: place in the chain */
    uint64_t chain;      /* roots: from 1 */
    bool continued;      /* roots: the next one of the chain exists */
    emu_known *children[EMU_FAN];
} emu_inner;

static emu_leaf *emu_leaf_of(emu_known *node) {
    return (emu_leaf *)node;
}

static emu_inner *emu_inner_of(emu_known *node) {
    return (emu_inner *)node;
}

static emu_known *emu_child(const emu_known *node, uint32_t at) {
    return node == NULL ? NULL : ((const emu_inner *)node)->children[at];
}

/* --- Pools --- */

static void *emu_strands_block(emu_strands *strands, size_t bytes) {
    if (strands->block_count == strands->block_room) {
        uint32_t room = strands->block_room == 0 ? 16 : strands->block_room * 2;
        void **blocks = realloc(strands->blocks, room * sizeof *blocks);
        if (blocks == NULL) return NULL;
        strands->blocks = blocks;
        strands->block_room = room;
    }
    void *block = malloc(bytes);
    if (block != NULL) strands->blocks[strands->block_count++] = block;
    return block;
}

static emu_known **emu_next_free(emu_known *node, uint32_t level) {
    return level == 0 ? &emu_leaf_of(node)->next_free : &emu_inner_of(node)->children[0];
}

static emu_known *emu_node_new(emu_strands *strands, uint32_t level) {
    emu_known **list = level == 0 ? &strands->free_leaves : &strands->free_inners;
    if (*list == NULL) {
        size_t bytes = level == 0 ? sizeof(emu_leaf) : sizeof(emu_inner);
        char *block = emu_strands_block(strands, EMU_NODES_PER_BLOCK * bytes);
        for (size_t i = EMU_NODES_PER_BLOCK; block != NULL && i-- > 0;) {
            emu_known *node = (emu_known *)(void *)(block + i * bytes);
            *emu_next_free(node, level) = *list;
            *list = node;
        }
    }
    emu_known *node = *list;
    if (node == NULL) {
        strands->out_of_memory = true;
        return NULL;
    }
    *list = *emu_next_free(node, level);
    memset(node, 0, level == 0 ? sizeof(emu_leaf) : sizeof(emu_inner));
    node->references = 1;
    return node;
}

static emu_known *emu_known_retain(emu_known *node) {
    if (node != NULL) node->references++;
    return node;
}

/* Goes down at most EMU_LEVELS_MAX. */
static void emu_known_release(emu_strands *strands, emu_known *node, uint32_t level) {
    if (node == NULL || --node->references > 0) return;
    for (uint32_t i = 0; level > 0 && i < EMU_FAN; i++)
        emu_known_release(strands, emu_inner_of(node)->children[i], level - 1);
    emu_known **list = level == 0 ? &strands->free_leaves : &strands->free_inners;
    *emu_next_free(node, level) = *list;
    *list = node;
}

/* --- Chains of roots --- */

static void emu_root_begin_chain(emu_strands *strands, emu_inner *root) {
    root->chain = ++strands->chain_count;
    root->generation = 0;
    root->continued = false;
}

/* The root is going to have more than it had. Nobody else has it, but one that was made from it may
 * be there, and would not cover it any more. */
static void emu_root_changes(emu_strands *strands, emu_inner *root) {
    if (root->continued) emu_root_begin_chain(strands, root);
}

/* A new root that covers an old one. */
static void emu_root_follow(emu_strands *strands, emu_inner *root, emu_inner *old) {
    if (old->continued || old->generation == UINT32_MAX) {
        emu_root_begin_chain(strands, root);
        return;
    }
    root->chain = old->chain;
    root->generation = old->generation + 1;
    root->continued = false;
    old->continued = true;
}

/* Whether one of two trees is known to cover the other. */
static bool emu_roots_compare(emu_known *a, emu_known *b, bool *a_covers_out) {
    const emu_inner *x = emu_inner_of(a), *y = emu_inner_of(b);
    *a_covers_out = x->generation >= y->generation;
    return x->chain == y->chain;
}

/* The node itself if nobody else has it, else a copy; NULL when memory is out. */
static emu_known *emu_known_own(emu_strands *strands, emu_known *node, uint32_t level) {
    bool is_root = level + 1 == strands->levels;
    if (node != NULL && node->references == 1) {
        if (is_root) emu_root_changes(strands, emu_inner_of(node));
        return node;
    }
    emu_known *own = emu_node_new(strands, level);
    if (own == NULL) return NULL;
    if (is_root && node != NULL) emu_root_follow(strands, emu_inner_of(own), emu_inner_of(node));
    if (is_root && node == NULL) emu_root_begin_chain(strands, emu_inner_of(own));
    if (node == NULL) return own;
    if (level == 0)
        memcpy(emu_leaf_of(own)->times, emu_leaf_of(node)->times, sizeof(uint32_t) * EMU_FAN);
    for (uint32_t i = 0; level > 0 && i < EMU_FAN; i++)
        emu_inner_of(own)->children[i] = emu_known_retain(emu_inner_of(node)->children[i]);
    node->references--;
    return own;
}

/* --- Looking and raising --- */

static const uint32_t *emu_known_times(const emu_strands *strands, const emu_known *node,
                                       uint32_t slot) {
    for (uint32_t level = strands->levels - 1; level > 0 && node != NULL; level--)
        node = emu_child(node, (slot >> (level * EMU_FAN_BITS)) % EMU_FAN);
    if (node == NULL) return NULL;
    return &((const emu_leaf *)node)->times[slot % EMU_FAN];
}

/* Raises the times of consecutive slots of one leaf. Takes the node, gives the new one. */
static emu_known *emu_known_raise(emu_strands *strands, emu_known *root, uint32_t slot,
                                  const uint32_t *times, uint32_t count) {
    const uint32_t *old = emu_known_times(strands, root, slot);
    bool raises = false;
    for (uint32_t i = 0; i < count; i++)
        raises = raises || times[i] > (old == NULL ? 0 : old[i]);
    if (!raises) return root;
    emu_known **link = &root;
    for (uint32_t level = strands->levels; level-- > 0;) {
        emu_known *own = emu_known_own(strands, *link, level);
        if (own == NULL) return root;
        *link = own;
        if (level > 0)
            link = &emu_inner_of(own)->children[(slot >> (level * EMU_FAN_BITS)) % EMU_FAN];
    }
    uint32_t *present = &emu_leaf_of(*link)->times[slot % EMU_FAN];
    for (uint32_t i = 0; i < count; i++)
        if (times[i] > present[i]) present[i] = times[i];
    return root;
}

/* --- Joining --- */

static emu_known *emu_leaf_join(emu_strands *strands, emu_known *a, emu_known *b) {
    const uint32_t *x = emu_leaf_of(a)->times, *y = emu_leaf_of(b)->times;
    bool a_covers = true, b_covers = true;
    for (uint32_t i = 0; i < EMU_FAN; i++) {
        a_covers = a_covers && x[i] >= y[i];
        b_covers = b_covers && y[i] >= x[i];
    }
    if (a_covers) return a;
    if (b_covers) {
        emu_known_release(strands, a, 0);
        return emu_known_retain(b);
    }
    emu_known *own = emu_known_own(strands, a, 0);
    if (own == NULL) return a;
    uint32_t *times = emu_leaf_of(own)->times;
    for (uint32_t i = 0; i < EMU_FAN; i++)
        if (y[i] > times[i]) times[i] = y[i];
    return own;
}

static emu_known *emu_known_join(emu_strands *strands, emu_known *a, emu_known *b,
                                 const emu_known *covered, uint32_t level);

/* The children of a node that nobody else has are joined in place. */
static emu_known *emu_inner_join_own(emu_strands *strands, emu_known *a, emu_known *b,
                                     const emu_known *covered, uint32_t level) {
    emu_known **children = emu_inner_of(a)->children;
    bool b_covers = true;
    if (level + 1 == strands->levels) emu_root_changes(strands, emu_inner_of(a));
    for (uint32_t i = 0; i < EMU_FAN; i++) {
        children[i] =
            emu_known_join(strands, children[i], emu_child(b, i), emu_child(covered, i), level - 1);
        b_covers = b_covers && children[i] == emu_child(b, i);
    }
    if (!b_covers) return a;
    emu_known_release(strands, a, level);
    return emu_known_retain(b);
}

static emu_known *emu_inner_join_shared(emu_strands *strands, emu_known *a, emu_known *b,
                                        const emu_known *covered, uint32_t level) {
    emu_known *joined[EMU_FAN];
    bool a_covers = true, b_covers = true;
    for (uint32_t i = 0; i < EMU_FAN; i++) {
        joined[i] = emu_known_join(strands, emu_known_retain(emu_child(a, i)), emu_child(b, i),
                                   emu_child(covered, i), level - 1);
        a_covers = a_covers && joined[i] == emu_child(a, i);
        b_covers = b_covers && joined[i] == emu_child(b, i);
    }
    emu_known *node = a_covers ? a : b_covers ? b : emu_node_new(strands, level);
    if (!a_covers && !b_covers && node != NULL) {
        memcpy(emu_inner_of(node)->children, joined, sizeof joined);
        if (level + 1 == strands->levels)
            emu_root_follow(strands, emu_inner_of(node), emu_inner_of(a));
        emu_known_release(strands, a, level);
        return node;
    }
    for (uint32_t i = 0; i < EMU_FAN; i++)
        emu_known_release(strands, joined[i], level - 1);
    if (a_covers || node == NULL) return a;
    emu_known_retain(b);
    emu_known_release(strands, a, level);
    return b;
}

/* Takes a, gives the join of both: a or b themselves where one covers the other, so that equal
 * knowledge is shared. `covered` is something that is known to be in a already. Goes down at most
 * EMU_LEVELS_MAX. */
static emu_known *emu_known_join(emu_strands *strands, emu_known *a, emu_known *b,
                                 const emu_known *covered, uint32_t level) {
    if (b == NULL || a == b || b == covered) return a;
    if (a == NULL) return emu_known_retain(b);
    if (level == 0) return emu_leaf_join(strands, a, b);
    if (a->references == 1) return emu_inner_join_own(strands, a, b, covered, level);
    return emu_inner_join_shared(strands, a, b, covered, level);
}

/* The same, when it can be told from the roots alone. */
static bool emu_tree_join_at_once(emu_strands *strands, emu_known **a, emu_known *b) {
    bool a_covers;
    if (b == NULL || *a == b) return true;
    if (*a != NULL && !emu_roots_compare(*a, b, &a_covers)) return false;
    if (*a != NULL && a_covers) return true;
    emu_known_release(strands, *a, strands->levels - 1);
    *a = emu_known_retain(b);
    return true;
}

/* The same of whole trees. All ranks of a collective make the same joins behind it, so the last one
 * is remembered. */
static emu_known *emu_tree_join(emu_strands *strands, emu_known *a, emu_known *b) {
    uint32_t top = strands->levels - 1;
    if (emu_tree_join_at_once(strands, &a, b)) return a;
    if (strands->memo_a != a || strands->memo_b != b) {
        emu_known *joined = emu_known_join(strands, emu_known_retain(a), b, NULL, top);
        emu_known_release(strands, strands->memo_a, top);
        emu_known_release(strands, strands->memo_b, top);
        emu_known_release(strands, strands->memo_joined, top);
        strands->memo_a = emu_known_retain(a);
        strands->memo_b = emu_known_retain(b);
        strands->memo_joined = joined;
    }
    emu_known *joined = emu_known_retain(strands->memo_joined);
    emu_known_release(strands, a, top);
    return joined;
}

emu_known *emu_strand_knowledge(const emu_strand *strand) {
    return emu_known_retain(strand->known);
}

void emu_knowledge_release(emu_strands *strands, emu_known *known) {
    emu_known_release(strands, known, strands->levels - 1);
}

/* --- Sets, domains, strands --- */

void emu_strands_init(emu_strands *strands, uint32_t domain_count) {
    uint64_t slots = (uint64_t)domain_count * EMU_SLOTS_PER_DOMAIN;
    memset(strands, 0, sizeof *strands);
    strands->domain_count = domain_count;
    strands->next_slot = domain_count * EMU_DOMAIN_SLOTS;
    if (slots < EMU_SLOTS_MIN) slots = EMU_SLOTS_MIN;
    strands->levels = EMU_LEVELS_MIN; /* a root has children */
    while ((UINT64_C(1) << (strands->levels * EMU_FAN_BITS)) < slots)
        strands->levels++;
    assert(strands->levels <= EMU_LEVELS_MAX);
}

void emu_strands_free(emu_strands *strands) {
    for (uint32_t i = 0; i < strands->block_count; i++)
        free(strands->blocks[i]);
    free(strands->blocks);
    memset(strands, 0, sizeof *strands);
}

void emu_domain_init(emu_domain *domain, uint32_t index) {
    memset(domain, 0, sizeof *domain);
    domain->first_slot = index * EMU_DOMAIN_SLOTS;
}

void emu_domain_free(emu_domain *domain) {
    free(domain->strands);
    memset(domain, 0, sizeof *domain);
}

static uint32_t emu_domain_new_slot(emu_strands *strands, const emu_domain *domain) {
    if (domain->strand_count < EMU_DOMAIN_SLOTS) return domain->first_slot + domain->strand_count;
    if (strands->next_slot >> (strands->levels * EMU_FAN_BITS) != 0) {
        strands->exhausted = true;
        return domain->first_slot;
    }
    return strands->next_slot++;
}

void emu_strand_init(emu_strands *strands, emu_strand *strand, emu_domain *domain) {
    memset(strand, 0, sizeof *strand);
    strand->domain = domain;
    strand->times = strand->few;
    strand->room = EMU_DOMAIN_SLOTS;
    strand->slot = emu_domain_new_slot(strands, domain);
    if (domain->strand_count == domain->strand_room) {
        uint32_t room = domain->strand_room == 0 ? 2 : domain->strand_room * 2;
        emu_strand **grown = realloc(domain->strands, room * sizeof(emu_strand *));
        if (grown == NULL) {
            strands->out_of_memory = true;
            return;
        }
        domain->strands = grown;
        domain->strand_room = room;
    }
    strand->index = domain->strand_count;
    domain->strands[domain->strand_count++] = strand;
    emu_strand_tick(strands, strand, 1);
}

void emu_strand_free(emu_strand *strand) {
    if (strand->times != strand->few) free(strand->times);
    strand->times = strand->few;
}

static uint32_t emu_strand_time(const emu_strand *strand, uint32_t index) {
    return index < strand->room ? strand->times[index] : 0;
}

/* Room for as many times as the domain has strands. */
static bool emu_strand_grow(emu_strands *strands, emu_strand *strand, uint32_t count) {
    if (count <= strand->room) return true;
    uint32_t room = strand->room;
    while (room < count)
        room *= 2;
    uint32_t *times = calloc(room, sizeof *times);
    if (times == NULL) {
        strands->out_of_memory = true;
        return false;
    }
    memcpy(times, strand->times, strand->room * sizeof *times);
    emu_strand_free(strand);
    strand->times = times;
    strand->room = room;
    return true;
}

/* What the strand knows is about to change. */
static void emu_strand_forget_moment(emu_strands *strands, emu_strand *strand) {
    if (strand->moment == NULL) return;
    emu_moment_release(strands, strand->moment);
    strand->moment = NULL;
}

static void emu_strand_raise(emu_strands *strands, emu_strand *strand, uint32_t index,
                             uint32_t time) {
    if (time <= emu_strand_time(strand, index)) return;
    emu_strand_forget_moment(strands, strand);
    if (emu_strand_grow(strands, strand, index + 1)) strand->times[index] = time;
}

bool emu_strand_knows(const emu_strands *strands, const emu_strand *strand, const emu_strand *other,
                      uint32_t time) {
    if (other->domain == strand->domain) return emu_strand_time(strand, other->index) >= time;
    const uint32_t *known = emu_known_times(strands, strand->known, other->slot);
    return (known == NULL ? 0 : *known) >= time;
}

uint32_t emu_strand_now(const emu_strand *strand) {
    return emu_strand_time(strand, strand->index);
}

void emu_strand_tick(emu_strands *strands, emu_strand *strand, uint32_t steps) {
    uint32_t now = emu_strand_now(strand);
    if (now >= EMU_TIMES_MAX - steps)
        strands->exhausted = true;
    else
        emu_strand_raise(strands, strand, strand->index, now + steps);
}

/* --- Moments --- */

static emu_moment *emu_moment_new(emu_strands *strands, uint32_t count) {
    uint32_t size_class = 2;
    while ((UINT32_C(1) << size_class) < count)
        size_class++;
    emu_moment **list = &strands->free_moments[size_class];
    if (*list == NULL) {
        size_t bytes = sizeof(emu_moment) + (sizeof(uint32_t) << size_class);
        bytes = (bytes + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
        size_t moments = bytes >= EMU_MOMENT_BLOCK_BYTES ? 1 : EMU_MOMENT_BLOCK_BYTES / bytes;
        char *block = emu_strands_block(strands, moments * bytes);
        for (size_t i = moments; block != NULL && i-- > 0;) {
            emu_moment *moment = (emu_moment *)(void *)(block + i * bytes);
            moment->of.next_free = *list;
            *list = moment;
        }
    }
    emu_moment *moment = *list;
    if (moment == NULL) {
        strands->out_of_memory = true;
        return NULL;
    }
    *list = moment->of.next_free;
    moment->references = 1;
    moment->size_class = (uint16_t)size_class;
    moment->count = count;
    return moment;
}

emu_moment *emu_strand_moment(emu_strands *strands, emu_strand *strand) {
    if (strand->moment == NULL) {
        uint32_t count = strand->domain->strand_count;
        emu_moment *moment = emu_moment_new(strands, count);
        if (moment == NULL) return NULL;
        moment->of.domain = strand->domain;
        moment->known = emu_known_retain(strand->known);
        for (uint32_t i = 0; i < count; i++)
            moment->times[i] = emu_strand_time(strand, i);
        strand->moment = moment;
    }
    return emu_moment_retain(strand->moment);
}

emu_moment *emu_moment_retain(emu_moment *moment) {
    if (moment != NULL) moment->references++;
    return moment;
}

void emu_moment_release(emu_strands *strands, emu_moment *moment) {
    if (moment == NULL || --moment->references > 0) return;
    emu_knowledge_release(strands, moment->known);
    moment->of.next_free = strands->free_moments[moment->size_class];
    strands->free_moments[moment->size_class] = moment;
}

/* --- Learning --- */

/* What came back from other domains about the strand's own. */
static void emu_strand_take_home(emu_strands *strands, emu_strand *strand) {
    const emu_domain *domain = strand->domain;
    const uint32_t *first = emu_known_times(strands, strand->known, domain->first_slot);
    for (uint32_t i = 0; i < domain->strand_count; i++) {
        const uint32_t *time = i < EMU_DOMAIN_SLOTS ? (first == NULL ? NULL : first + i)
                                                    : emu_known_times(strands, strand->known,
                                                                      domain->strands[i]->slot);
        if (time != NULL) emu_strand_raise(strands, strand, i, *time);
    }
}

/* Puts a domain's times into a tree. */
static emu_known *emu_known_raise_domain(emu_strands *strands, emu_known *known,
                                         const emu_domain *domain, const uint32_t *times,
                                         uint32_t count) {
    uint32_t few = count < EMU_DOMAIN_SLOTS ? count : EMU_DOMAIN_SLOTS;
    known = emu_known_raise(strands, known, domain->first_slot, times, few);
    for (uint32_t i = few; i < count; i++)
        known = emu_known_raise(strands, known, domain->strands[i]->slot, &times[i], 1);
    return known;
}

static void emu_strand_set_known(emu_strands *strands, emu_strand *strand, emu_known *known) {
    if (known == strand->known) return;
    emu_strand_forget_moment(strands, strand);
    strand->known = known;
}

static void emu_strand_join_known(emu_strands *strands, emu_strand *strand, emu_known *known) {
    if (known == NULL || known == strand->known) return;
    /* The strand's own tree is given up to the join; the moment has a reference of its own. */
    emu_strand_forget_moment(strands, strand);
    strand->known = emu_tree_join(strands, strand->known, known);
}

static void emu_strand_learn_abroad(emu_strands *strands, emu_strand *strand,
                                    const emu_moment *moment) {
    emu_known *known = emu_known_raise_domain(strands, emu_known_retain(moment->known),
                                              moment->of.domain, moment->times, moment->count);
    emu_strand_join_known(strands, strand, known);
    emu_knowledge_release(strands, known);
    emu_strand_take_home(strands, strand);
}

void emu_strand_learn(emu_strands *strands, emu_strand *strand, emu_moment *moment) {
    if (moment == NULL || moment == strand->taken || moment == strand->moment) return;
    emu_moment_retain(moment);
    emu_moment_release(strands, strand->taken);
    strand->taken = moment;
    if (moment->of.domain != strand->domain) {
        emu_strand_learn_abroad(strands, strand, moment);
        return;
    }
    for (uint32_t i = 0; i < moment->count; i++)
        emu_strand_raise(strands, strand, i, moment->times[i]);
    emu_strand_join_known(strands, strand, moment->known);
}

/* --- Gathering --- */

void emu_gathering_add(emu_strands *strands, emu_gathering *gathering, const emu_strand *strand) {
    uint32_t top = strands->levels - 1;
    const emu_domain *domain = strand->domain;
    uint32_t count = strand->room < domain->strand_count ? strand->room : domain->strand_count;
    if (strand->known != gathering->last) {
        if (!emu_tree_join_at_once(strands, &gathering->known, strand->known))
            gathering->known =
                emu_known_join(strands, gathering->known, strand->known, gathering->last, top);
        emu_known_release(strands, gathering->last, top);
        gathering->last = emu_known_retain(strand->known);
    }
    gathering->known =
        emu_known_raise_domain(strands, gathering->known, domain, strand->times, count);
}

void emu_gathering_merge(emu_strands *strands, emu_gathering *gathering,
                         const emu_gathering *other) {
    gathering->known = emu_tree_join(strands, gathering->known, other->known);
}

void emu_strand_learn_gathered(emu_strands *strands, emu_strand *strand,
                               const emu_gathering *gathering, const emu_known *before) {
    emu_known *known = gathering->known;
    if (known == NULL || known == strand->known) return;
    if (before != NULL && before == strand->known) {
        emu_known *old = strand->known;
        emu_strand_set_known(strands, strand, emu_known_retain(known));
        emu_knowledge_release(strands, old);
    } else {
        emu_strand_join_known(strands, strand, known);
    }
    emu_strand_take_home(strands, strand);
}

void emu_gathering_clear(emu_strands *strands, emu_gathering *gathering) {
    emu_knowledge_release(strands, gathering->known);
    emu_knowledge_release(strands, gathering->last);
    gathering->known = gathering->last = NULL;
}
