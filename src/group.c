#include "tutti/group.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/device_text.h"

/* A device as one number that sorts as tutti_device_id_compare() does. */
typedef uint32_t device_key;

static device_key key_of(tutti_device_id id) {
    return (uint32_t)id.type << 16 | id.index;
}

static tutti_device_id id_of(device_key key) {
    const tutti_device_id id = {(uint16_t)(key >> 16), (uint16_t)key};
    return id;
}

/* The devices of a group in the order of their ranks. */
typedef struct member_list {
    device_key *keys; /* ascending, without repetition */
    size_t count;     /* 1 to INT32_MAX, so that every place is a rank */
} member_list;

int tutti_device_id_compare(tutti_device_id a, tutti_device_id b) {
    const device_key left = key_of(a);
    const device_key right = key_of(b);
    return (left > right) - (left < right);
}

static int compare_keys(const void *a, const void *b) {
    device_key left, right;
    memcpy(&left, a, sizeof(left));
    memcpy(&right, b, sizeof(right));
    return (left > right) - (left < right);
}

static tutti_status refuse_duplicate(const member_list *members, tutti_error *error) {
    for (size_t i = 1; i < members->count; i++) {
        if (members->keys[i] != members->keys[i - 1]) continue;
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "device %s is in the list more than once: name each device of a "
                               "group once",
                               tutti_device_text_of(id_of(members->keys[i])).text);
    }
    return TUTTI_OK;
}

/* Sorts a list of devices into members_out, to be freed with free_members().
 * Errors: as the header says; nothing is to be freed then */
static tutti_status sort_members(const tutti_device_id *devices, size_t device_count,
                                 member_list *members_out, tutti_error *error) {
    if (devices == NULL || device_count == 0) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               device_count == 0 ? "the list of devices is empty"
                                                 : "the list of devices is NULL");
    }
    if (device_count > INT32_MAX) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "device_count is %zu: a group has at most %" PRId32 " members",
                               device_count, INT32_MAX);
    }
    member_list members = {calloc(device_count, sizeof(device_key)), device_count};
    if (members.keys == NULL) {
        return tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory is left to sort %zu devices",
                               device_count);
    }
    for (size_t i = 0; i < device_count; i++)
        members.keys[i] = key_of(devices[i]);
    qsort(members.keys, members.count, sizeof(device_key), compare_keys);
    const tutti_status status = refuse_duplicate(&members, error);
    if (status != TUTTI_OK) {
        free(members.keys);
        return status;
    }
    *members_out = members;
    return TUTTI_OK;
}

static void free_members(member_list *members) {
    free(members->keys);
}

/* --- The identity of a group --------------------------------------------------------------------
 * Fixed for ever: two processes of one job may be built from two versions of this file. The state
 * is 64 bits wide and takes one word at a time, the purpose, the number of devices, then each
 * device (type * 65536 + index) in ascending order. A step is `state ^ word`, twice multiplied by
 * an odd constant and folded by a shift. Each of these can be undone, so groups that differ in one
 * word alone (in their purpose, or in one place of lists of equal length) never have the same id;
 * all others collide as random numbers do. */

static const uint64_t HASH_START = UINT64_C(0x7475747469206964);    /* "tutti id" */
static const uint64_t HASH_FACTOR_1 = UINT64_C(0x6A09E667F3BCC909); /* digits of the root of 2 */
static const uint64_t HASH_FACTOR_2 = UINT64_C(0xBB67AE8584CAA73B); /* digits of the root of 3 */

static uint64_t hash_step(uint64_t state, uint64_t word) {
    state ^= word;
    state *= HASH_FACTOR_1;
    state ^= state >> 29;
    state *= HASH_FACTOR_2;
    state ^= state >> 32;
    return state;
}

tutti_status tutti_communication_id_of(const tutti_device_id *devices, size_t device_count,
                                       tutti_group_purpose purpose, tutti_communication_id *id_out,
                                       tutti_error *error) {
    tutti_error_clear(error);
    if (id_out == NULL) return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "id_out is NULL");
    const bool purpose_is_known =
        purpose == TUTTI_PURPOSE_COLLECTIVES || purpose == TUTTI_PURPOSE_TRANSFERS;
    if (!purpose_is_known) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "purpose is %d: it is 0 for collectives or 1 for transfers",
                               (int)purpose);
    }
    member_list members;
    const tutti_status status = sort_members(devices, device_count, &members, error);
    if (status != TUTTI_OK) return status;
    uint64_t state = hash_step(HASH_START, (uint64_t)purpose);
    state = hash_step(state, members.count);
    for (size_t i = 0; i < members.count; i++)
        state = hash_step(state, members.keys[i]);
    free_members(&members);
    *id_out = state;
    return TUTTI_OK;
}

/* Writes "[2, 5, 7]"; of a long list only the beginning: "[0, 1, 2, ...]". */
static void format_members(const member_list *members, char *text, size_t text_bytes) {
    enum { SHOWN_MAX = 16 };
    const size_t shown = members->count < SHOWN_MAX ? members->count : SHOWN_MAX;
    size_t length = 0;
    for (size_t i = 0; i < shown; i++) {
        const int added = snprintf(text + length, text_bytes - length, "%s%s", i == 0 ? "[" : ", ",
                                   tutti_device_text_of(id_of(members->keys[i])).text);
        length += (size_t)added;
        assert(length < text_bytes);
    }
    (void)snprintf(text + length, text_bytes - length, "%s",
                   shown < members->count ? ", ...]" : "]");
}

static tutti_status refuse_outsider(const member_list *members, tutti_device_id device,
                                    tutti_error *error) {
    char list[256]; /* 16 devices of at most 13 bytes each, and the end */
    format_members(members, list, sizeof(list));
    return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                           "device %s is not one of the %zu in the list %s: a device joins only "
                           "groups that it belongs to",
                           tutti_device_text_of(device).text, members->count, list);
}

tutti_status tutti_group_rank(const tutti_device_id *devices, size_t device_count,
                              tutti_device_id device, int32_t *rank_out, tutti_error *error) {
    tutti_error_clear(error);
    if (rank_out == NULL) return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "rank_out is NULL");
    member_list members;
    tutti_status status = sort_members(devices, device_count, &members, error);
    if (status != TUTTI_OK) return status;
    const device_key key = key_of(device);
    const device_key *found =
        bsearch(&key, members.keys, members.count, sizeof(device_key), compare_keys);
    if (found == NULL) {
        status = refuse_outsider(&members, device, error);
    } else {
        *rank_out = (int32_t)(found - members.keys);
    }
    free_members(&members);
    return status;
}

tutti_status tutti_group_peer(tutti_device_id self, tutti_device_id other, int32_t *peer_out,
                              tutti_error *error) {
    tutti_error_clear(error);
    if (peer_out == NULL) return tutti_error_set(error, TUTTI_INVALID_ARGUMENT, "peer_out is NULL");
    const int order = tutti_device_id_compare(self, other);
    if (order == 0) {
        return tutti_error_set(error, TUTTI_INVALID_ARGUMENT,
                               "device %s is both ends of the pair: a transfer needs two devices",
                               tutti_device_text_of(self).text);
    }
    *peer_out = order < 0 ? 1 : 0;
    return TUTTI_OK;
}
