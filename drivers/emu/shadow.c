#include "drivers/emu/shadow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* --- Lists of reads --- */

struct emu_reads {
    uint32_t count;
    uint32_t size_class;
    emu_reads *next_free;
    emu_access at[];
};

static emu_reads *emu_reads_new(emu_shadows *shadows, uint32_t count) {
    uint32_t size_class = 2;
    while ((UINT32_C(1) << size_class) < count)
        size_class++;
    emu_reads *reads = shadows->free_reads[size_class];
    if (reads != NULL)
        shadows->free_reads[size_class] = reads->next_free;
    else
        reads = malloc(sizeof *reads + (sizeof(emu_access) << size_class));
    if (reads == NULL) {
        shadows->out_of_memory = true;
        return NULL;
    }
    reads->count = 0;
    reads->size_class = size_class;
    return reads;
}

static void emu_reads_give_back(emu_shadows *shadows, emu_reads *reads) {
    if (reads == NULL) return;
    reads->next_free = shadows->free_reads[reads->size_class];
    shadows->free_reads[reads->size_class] = reads;
}

static emu_reads *emu_reads_copy(emu_shadows *shadows, const emu_reads *from, uint32_t room) {
    emu_reads *copy = emu_reads_new(shadows, room);
    if (copy == NULL) return NULL;
    copy->count = from->count;
    memcpy(copy->at, from->at, from->count * sizeof *from->at);
    return copy;
}

void emu_shadows_free(emu_shadows *shadows) {
    for (uint32_t i = 0; i < EMU_READS_CLASSES; i++) {
        while (shadows->free_reads[i] != NULL) {
            emu_reads *next = shadows->free_reads[i]->next_free;
            free(shadows->free_reads[i]);
            shadows->free_reads[i] = next;
        }
    }
}

/* --- Segments --- */

void emu_shadow_init(emu_shadow *shadow, size_t bytes, const emu_access *write) {
    memset(shadow, 0, sizeof *shadow);
    shadow->bytes = bytes;
    shadow->one.write = *write;
    shadow->segments = &shadow->one;
    shadow->count = shadow->room = 1;
}

void emu_shadow_free(emu_shadows *shadows, emu_shadow *shadow) {
    for (uint32_t i = 0; i < shadow->count; i++)
        emu_reads_give_back(shadows, shadow->segments[i].reads);
    if (shadow->segments != &shadow->one) free(shadow->segments);
    memset(shadow, 0, sizeof *shadow);
}

static size_t emu_segment_end(const emu_shadow *shadow, uint32_t at) {
    return at + 1 < shadow->count ? shadow->segments[at + 1].begin : shadow->bytes;
}

/* The segment that holds a byte. */
static uint32_t emu_shadow_find(const emu_shadow *shadow, size_t byte) {
    uint32_t low = 0, high = shadow->count - 1;
    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (shadow->segments[middle].begin <= byte)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static bool emu_shadow_grow(emu_shadows *shadows, emu_shadow *shadow) {
    if (shadow->count < shadow->room) return true;
    uint32_t room = shadow->room < 4 ? 4 : shadow->room * 2;
    bool inside = shadow->segments == &shadow->one;
    emu_segment *grown = realloc(inside ? NULL : shadow->segments, room * sizeof *grown);
    if (grown == NULL) {
        shadows->out_of_memory = true;
        return false;
    }
    if (inside) *grown = shadow->one;
    shadow->segments = grown;
    shadow->room = room;
    return true;
}

/* Cuts a segment in two; the second one begins at `byte`. */
static void emu_segment_split(emu_shadows *shadows, emu_shadow *shadow, uint32_t at, size_t byte) {
    if (!emu_shadow_grow(shadows, shadow)) return;
    emu_segment *segment = &shadow->segments[at];
    emu_reads *copy = NULL;
    if (segment->reads != NULL) {
        copy = emu_reads_copy(shadows, segment->reads, segment->reads->count);
        if (copy == NULL) return;
    }
    memmove(segment + 2, segment + 1, (shadow->count - at - 1) * sizeof *segment);
    segment[1] = segment[0];
    segment[1].begin = byte;
    segment[1].reads = copy;
    shadow->count++;
}

static bool emu_access_equal(const emu_access *a, const emu_access *b) {
    if (a->strand == NULL && b->strand == NULL) return true;
    return a->strand == b->strand && a->time == b->time && a->line == b->line &&
           a->file == b->file && a->kind == b->kind && a->undefined == b->undefined &&
           a->order == b->order && a->host == b->host;
}

static bool emu_segments_alike(const emu_segment *a, const emu_segment *b) {
    return a->reads == NULL && b->reads == NULL && emu_access_equal(&a->write, &b->write) &&
           emu_access_equal(&a->read, &b->read);
}

/* Joins neighbours that say the same, from `first` to `last`. */
static void emu_shadow_merge(emu_shadow *shadow, uint32_t first, uint32_t last) {
    uint32_t kept = first;
    for (uint32_t i = first + 1; i <= last; i++)
        if (!emu_segments_alike(&shadow->segments[kept], &shadow->segments[i]))
            shadow->segments[++kept] = shadow->segments[i];
    uint32_t gone = last - kept;
    if (gone == 0) return;
    memmove(&shadow->segments[kept + 1], &shadow->segments[last + 1],
            (shadow->count - last - 1) * sizeof *shadow->segments);
    shadow->count -= gone;
}

/* --- Comparing --- */

static bool emu_access_is_over(const emu_access *earlier, const emu_touching *touch) {
    const emu_access *access = &touch->access;
    if (earlier->strand == NULL) return true;
    if (earlier->strand == access->strand && earlier->time == access->time) return true;
    return emu_strand_knows(touch->strands, touch->asks, earlier->strand, earlier->time);
}

static void emu_clash_tell(const emu_touching *touch, size_t begin, size_t end,
                           const emu_access *earlier, bool earlier_writes, bool undefined) {
    const emu_clash clash = {.begin = begin,
                             .end = end,
                             .earlier = earlier,
                             .later = &touch->access,
                             .earlier_writes = earlier_writes,
                             .later_writes = touch->writes,
                             .undefined = undefined};
    touch->clash(touch->context, &clash);
}

static void emu_segment_compare(const emu_segment *segment, size_t end, const emu_touching *touch) {
    const emu_reads *reads = segment->reads;
    if (!emu_access_is_over(&segment->write, touch))
        emu_clash_tell(touch, segment->begin, end, &segment->write, true, false);
    else if (segment->write.undefined && !touch->writes && !touch->copies)
        emu_clash_tell(touch, segment->begin, end, &segment->write, true, true);
    if (!touch->writes) return;
    if (!emu_access_is_over(&segment->read, touch))
        emu_clash_tell(touch, segment->begin, end, &segment->read, false, false);
    for (uint32_t i = 0; reads != NULL && i < reads->count; i++)
        if (!emu_access_is_over(&reads->at[i], touch))
            emu_clash_tell(touch, segment->begin, end, &reads->at[i], false, false);
}

/* --- Remembering --- */

static void emu_segment_write(emu_shadows *shadows, emu_segment *segment,
                              const emu_access *access) {
    emu_reads_give_back(shadows, segment->reads);
    segment->reads = NULL;
    segment->read.strand = NULL;
    segment->write = *access;
}

/* Reads that are over for this one need not be remembered: whoever is ordered behind it is ordered
 * behind them as well. So does an earlier part of the same group call on the same stream. */
static bool emu_read_is_covered(const emu_access *read, const emu_touching *touch) {
    return emu_access_is_over(read, touch) || (read->strand == touch->access.strand);
}

static void emu_segment_read(emu_shadows *shadows, emu_segment *segment,
                             const emu_touching *touch) {
    emu_reads *reads = segment->reads;
    if (reads == NULL) {
        if (segment->read.strand == NULL || emu_read_is_covered(&segment->read, touch)) {
            segment->read = touch->access;
            return;
        }
        reads = emu_reads_new(shadows, 2);
        if (reads == NULL) return;
        reads->at[reads->count++] = segment->read;
        segment->read.strand = NULL;
        segment->reads = reads;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < reads->count; i++)
        if (!emu_read_is_covered(&reads->at[i], touch)) reads->at[kept++] = reads->at[i];
    reads->count = kept;
    if (kept == UINT32_C(1) << reads->size_class) {
        emu_reads *grown = emu_reads_copy(shadows, reads, kept + 1);
        if (grown == NULL) return;
        emu_reads_give_back(shadows, reads);
        segment->reads = reads = grown;
    }
    reads->at[reads->count++] = touch->access;
    if (reads->count > 1) return;
    segment->read = reads->at[0];
    segment->reads = NULL;
    emu_reads_give_back(shadows, reads);
}

void emu_shadow_touch(emu_shadows *shadows, emu_shadow *shadow, const emu_touching *touch) {
    assert(touch->begin < touch->end && touch->end <= shadow->bytes);
    uint32_t first = emu_shadow_find(shadow, touch->begin);
    if (shadow->segments[first].begin < touch->begin)
        emu_segment_split(shadows, shadow, first++, touch->begin);
    uint32_t at = first;
    while (at < shadow->count && shadow->segments[at].begin < touch->end) {
        if (emu_segment_end(shadow, at) > touch->end)
            emu_segment_split(shadows, shadow, at, touch->end);
        emu_segment *segment = &shadow->segments[at];
        emu_segment_compare(segment, emu_segment_end(shadow, at), touch);
        if (touch->writes)
            emu_segment_write(shadows, segment, &touch->access);
        else
            emu_segment_read(shadows, segment, touch);
        at++;
    }
    if (shadow->count == 1 || shadows->out_of_memory) return;
    emu_shadow_merge(shadow, first > 0 ? first - 1 : 0, at < shadow->count ? at : at - 1);
}

bool emu_shadow_is_undefined(const emu_shadow *shadow, size_t byte, size_t *end_out) {
    uint32_t at = emu_shadow_find(shadow, byte);
    *end_out = emu_segment_end(shadow, at);
    return shadow->segments[at].write.undefined;
}
