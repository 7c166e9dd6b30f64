#include "drivers/emu/host_set.h"

#include <assert.h>
#include <stdlib.h>

static uint32_t words_for(uint32_t bits) {
    return bits / 64 + (bits % 64 != 0);
}

/* By halving: no builtin, so that every compiler and every machine does the same. */
static uint32_t lowest_bit(uint64_t word) {
    uint32_t place = 0;
    for (uint32_t width = 32; width > 0; width /= 2) {
        uint64_t lower = (UINT64_C(1) << width) - 1;
        if ((word & lower) != 0) continue;
        word >>= width;
        place += width;
    }
    return place;
}

static uint32_t bit_count(uint64_t word) {
    word -= (word >> 1) & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + ((word >> 2) & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)((word * UINT64_C(0x0101010101010101)) >> 56);
}

static uint64_t from_bit(uint32_t bit) {
    return UINT64_MAX << (bit % 64);
}

bool emu_host_set_init(emu_host_set *set, uint32_t room) {
    assert(room > 0);
    uint32_t bit_words = words_for(room);
    uint64_t *bits = calloc((size_t)bit_words + words_for(bit_words), sizeof(*bits));
    if (bits == NULL) return false;
    *set = (emu_host_set){.bits = bits, .words = bits + bit_words, .room = room};
    return true;
}

void emu_host_set_free(emu_host_set *set) {
    free(set->bits);
    *set = (emu_host_set){0};
}

bool emu_host_set_has(const emu_host_set *set, uint32_t host) {
    assert(host < set->room);
    return (set->bits[host / 64] >> (host % 64) & 1) != 0;
}

void emu_host_set_add(emu_host_set *set, uint32_t host) {
    if (emu_host_set_has(set, host)) return;
    uint32_t word = host / 64;
    set->bits[word] |= UINT64_C(1) << (host % 64);
    set->words[word / 64] |= UINT64_C(1) << (word % 64);
    set->count++;
}

void emu_host_set_remove(emu_host_set *set, uint32_t host) {
    if (!emu_host_set_has(set, host)) return;
    uint32_t word = host / 64;
    set->bits[word] &= ~(UINT64_C(1) << (host % 64));
    if (set->bits[word] == 0) set->words[word / 64] &= ~(UINT64_C(1) << (word % 64));
    set->count--;
}

/* The first word of bits with a member, at or above `from`; false when there is none. */
static bool next_word(const emu_host_set *set, uint32_t from, uint32_t *word_out) {
    uint32_t bit_words = words_for(set->room), upper_words = words_for(bit_words);
    if (from >= bit_words) return false;
    uint64_t upper = set->words[from / 64] & from_bit(from);
    for (uint32_t i = from / 64;;) {
        if (upper != 0) {
            *word_out = i * 64 + lowest_bit(upper);
            return true;
        }
        if (++i == upper_words) return false;
        upper = set->words[i];
    }
}

uint32_t emu_host_set_next(const emu_host_set *set, uint32_t from) {
    assert(set->count > 0);
    if (from >= set->room) from = 0;
    if (emu_host_set_has(set, from)) return from;
    uint32_t word = from / 64;
    uint64_t here = set->bits[word] & from_bit(from);
    if (here == 0) {
        bool found = next_word(set, word + 1, &word) || next_word(set, 0, &word);
        assert(found);
        (void)found;
        here = set->bits[word];
    }
    return word * 64 + lowest_bit(here);
}

uint32_t emu_host_set_at(const emu_host_set *set, uint32_t from, uint32_t place) {
    assert(place < set->count);
    if (from >= set->room) from = 0;
    if (place == 0) return emu_host_set_next(set, from); /* the plain schedule's only question */
    uint32_t bit_words = words_for(set->room), word = from / 64;
    uint64_t here = set->bits[word] & from_bit(from);
    /* Once around, and the word that it began in twice: first its upper part, then its lower. */
    for (uint32_t seen = 0; seen <= bit_words; seen++) {
        uint32_t count = bit_count(here);
        if (place < count) {
            for (; place > 0; place--)
                here &= here - 1;
            return word * 64 + lowest_bit(here);
        }
        place -= count;
        word = word + 1 == bit_words ? 0 : word + 1;
        here = set->bits[word];
    }
    assert(0 && "the set counts more members than it has");
    return 0;
}

void emu_host_set_move(emu_host_set *from, emu_host_set *to) {
    assert(from->room == to->room);
    uint32_t bit_words = words_for(from->room);
    for (uint32_t word = 0; word < bit_words && from->count > 0; word++) {
        uint64_t added = from->bits[word] & ~to->bits[word];
        from->count -= bit_count(from->bits[word]);
        to->count += bit_count(added);
        to->bits[word] |= added;
        if (to->bits[word] != 0) to->words[word / 64] |= UINT64_C(1) << (word % 64);
        from->bits[word] = 0;
        from->words[word / 64] &= ~(UINT64_C(1) << (word % 64));
    }
}
