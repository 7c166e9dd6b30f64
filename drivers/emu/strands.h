#ifndef TUTTI_EMU_STRANDS_H
#define TUTTI_EMU_STRANDS_H

/* What happened before what. A *strand* is a host thread or a stream; it counts its own *times*,
 * and knows up to which time of every other strand everything is over: a vector clock.
 *
 * Strands of one device form a *domain*, where vectors are short and dense. What a strand knows of
 * other domains is a tree of times by slot, shared by all who know the same and copied only along
 * the path to what differs: so a collective costs each of its ranks the same, however many they
 * are. A *moment* is what a strand knew once, kept for whoever is ordered behind it.
 *
 * Pure, and knows nothing of the engine. Nothing is allocated once as much has been needed before.
 * When memory is out the field says so, and answers are of no use any more. */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    EMU_DOMAIN_SLOTS = 4, /* times of the first strands of a domain lie together in the tree */
    EMU_SLOTS_MIN = 1 << 16,
    EMU_SLOTS_PER_DOMAIN = 16, /* room for so many strands, domains together */
    EMU_MOMENT_CLASSES = 32,   /* sizes of moments: powers of two */
};

/* Releases of one strand that can be told apart. */
#define EMU_TIMES_MAX (UINT32_MAX - (1 << 20))

typedef struct emu_known emu_known;
typedef struct emu_strand emu_strand;
typedef struct emu_moment emu_moment;

typedef struct emu_domain {
    uint32_t first_slot; /* of EMU_DOMAIN_SLOTS; later strands have slots of their own */
    uint32_t strand_count, strand_room;
    emu_strand **strands;
} emu_domain;

struct emu_strand {
    emu_domain *domain;
    uint32_t index; /* in the domain */
    uint32_t slot;  /* in the tree */
    uint32_t room;  /* of times */
    uint32_t few[EMU_DOMAIN_SLOTS];
    uint32_t *times;    /* by index in the domain; the own one is the present; `few` or allocated */
    emu_known *known;   /* times by slot, of other domains; may lag behind for its own */
    emu_moment *moment; /* the present one, once somebody asked for it; NULL */
    emu_moment *taken;  /* the last that it learned from; NULL */
};

/* The pools, and what all strands share. All zero but for the two given to emu_strands_init. */
typedef struct emu_strands {
    uint32_t domain_count, next_slot;
    uint32_t levels; /* of the tree */
    emu_known *free_leaves, *free_inners;
    emu_moment *free_moments[EMU_MOMENT_CLASSES];
    void **blocks; /* what the pools were cut from */
    uint32_t block_count, block_room;
    emu_known *memo_a, *memo_b, *memo_joined; /* the last join of whole trees */
    uint64_t chain_count;
    bool out_of_memory;
    bool exhausted; /* more strands or times than can be told apart */
} emu_strands;

/* A set for so many domains, which are made by emu_domain_init(0), (1), ... */
void emu_strands_init(emu_strands *strands, uint32_t domain_count);
void emu_strands_free(emu_strands *strands);

void emu_domain_init(emu_domain *domain, uint32_t index);
void emu_domain_free(emu_domain *domain);

/* A new strand of a domain, which knows nothing. It must not move in memory. */
void emu_strand_init(emu_strands *strands, emu_strand *strand, emu_domain *domain);
void emu_strand_free(emu_strand *strand);

/* Whether everything that `other` did up to its time is over before what `strand` does now. */
bool emu_strand_knows(const emu_strands *strands, const emu_strand *strand, const emu_strand *other,
                      uint32_t time);

/* The strand's present time. */
uint32_t emu_strand_now(const emu_strand *strand);

/* Moves the strand's own time on. */
void emu_strand_tick(emu_strands *strands, emu_strand *strand, uint32_t steps);

/* What the strand knows now; the caller releases it. NULL when memory is out. */
emu_moment *emu_strand_moment(emu_strands *strands, emu_strand *strand);
emu_moment *emu_moment_retain(emu_moment *moment);
void emu_moment_release(emu_strands *strands, emu_moment *moment);

/* The strand is ordered behind the moment. */
void emu_strand_learn(emu_strands *strands, emu_strand *strand, emu_moment *moment);

/* --- Many who learn from many --- */

/* What is put together from several strands. All zero at the start. */
typedef struct emu_gathering {
    emu_known *known;
    emu_known *last; /* what the strand that was added last knew of others */
} emu_gathering;

/* Adds what the strand knows now. */
void emu_gathering_add(emu_strands *strands, emu_gathering *gathering, const emu_strand *strand);

/* The strand is ordered behind all that was gathered. `before`: what it knew of others when it was
 * added, retained by emu_strand_knowledge(), if it was; NULL. */
void emu_strand_learn_gathered(emu_strands *strands, emu_strand *strand,
                               const emu_gathering *gathering, const emu_known *before);
/* Adds all that another one has gathered. */
void emu_gathering_merge(emu_strands *strands, emu_gathering *gathering,
                         const emu_gathering *other);
void emu_gathering_clear(emu_strands *strands, emu_gathering *gathering);

emu_known *emu_strand_knowledge(const emu_strand *strand);
void emu_knowledge_release(emu_strands *strands, emu_known *known);

#ifdef __cplusplus
}
#endif

#endif
