#ifndef TUTTI_EMU_SHADOW_H
#define TUTTI_EMU_SHADOW_H

/* Who touched which bytes of an allocation last: disjoint segments that cover it, each with its
 * last write and the reads since then that are not ordered among each other. Pure, and knows
 * nothing of the engine. */

#include <stddef.h>

#include "drivers/emu/strands.h"
#include "tutti/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { EMU_READS_CLASSES = 32 }; /* sizes of lists of reads: powers of two */

/* One access, as it is remembered. */
typedef struct emu_access {
    const emu_strand *strand; /* NULL: none */
    const char *file;         /* of the caller; NULL: unknown */
    int32_t line;
    uint32_t time;  /* of the strand: it is over for whoever knows this time */
    uint32_t order; /* operations: of its host's launches; host: the launches before it */
    uint32_t host;  /* who made the call */
    uint8_t kind;   /* the engine's */
    bool undefined; /* writes: the bytes have no defined contents afterwards */
} emu_access;

typedef struct emu_reads emu_reads;

typedef struct emu_segment {
    size_t begin; /* it ends where the next one begins */
    emu_access write;
    emu_access read;  /* the only one since the write; strand NULL: none, or see reads */
    emu_reads *reads; /* when there are several; NULL */
} emu_segment;

/* Of one allocation. It must not move in memory. */
typedef struct emu_shadow {
    size_t bytes;
    uint32_t count, room;
    emu_segment *segments;
    emu_segment one; /* as long as there is just one */
} emu_shadow;

/* What all shadows share: the pool of lists of reads. All zero at the start. */
typedef struct emu_shadows {
    emu_reads *free_reads[EMU_READS_CLASSES];
    bool out_of_memory;
} emu_shadows;

/* Two accesses to bytes `begin` to `end` that are not ordered; or a read of bytes that the earlier
 * one, a write, left undefined. */
typedef struct emu_clash {
    size_t begin, end;
    const emu_access *earlier;
    const emu_access *later;
    bool earlier_writes, later_writes;
    bool undefined; /* ordered, but what was read is undefined */
} emu_clash;

typedef void emu_clash_function(void *context, const emu_clash *clash);

/* An access that is being made. */
typedef struct emu_touching {
    emu_access access;
    size_t begin, end; /* end > begin */
    bool writes;
    bool copies;                /* reads: undefined bytes are no clash, they are only moved */
    const emu_strands *strands; /* of the strand that makes it, which knows what is over; */
    const emu_strand *asks;     /* its own operation has access.time, which it does not know yet */
    emu_clash_function *clash;
    void *context;
} emu_touching;

/* All bytes were written by one access. bytes > 0. */
void emu_shadow_init(emu_shadow *shadow, size_t bytes, const emu_access *write);
void emu_shadow_free(emu_shadows *shadows, emu_shadow *shadow);
void emu_shadows_free(emu_shadows *shadows);

/* Compares an access with what is remembered, tells every clash in ascending order of bytes, and
 * remembers it. */
void emu_shadow_touch(emu_shadows *shadows, emu_shadow *shadow, const emu_touching *touch);

/* The segment that holds a byte: where it ends, and whether its contents are undefined. */
bool emu_shadow_is_undefined(const emu_shadow *shadow, size_t byte, size_t *end_out);

#ifdef __cplusplus
}
#endif

#endif
