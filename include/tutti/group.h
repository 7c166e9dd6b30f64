#ifndef TUTTI_GROUP_H
#define TUTTI_GROUP_H

/* Who belongs to a group and as which rank: pure functions of a list of devices, equal in every
 * process. A device is a member by type and index: the same index of another type is another
 * member. */

#include "tutti/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a group is for. Groups over the same devices with different purposes never meet. */
typedef enum tutti_group_purpose {
    TUTTI_PURPOSE_COLLECTIVES = 0,
    TUTTI_PURPOSE_TRANSFERS = 1, /* between the two devices of a pair */
} tutti_group_purpose;

/* Below 0, 0, above 0 as a sorts before, with, after b: by type, then by index. */
int tutti_device_id_compare(tutti_device_id a, tutti_device_id b);

/* The identity of a group: a 64-bit hash of its sorted devices and its purpose. Any order of the
 * list gives the same id.
 * Errors:  TUTTI_INVALID_ARGUMENT when the list is empty or holds a device twice; the text names
 *          it */
tutti_status tutti_communication_id_of(const tutti_device_id *devices, size_t device_count,
                                       tutti_group_purpose purpose, tutti_communication_id *id_out,
                                       tutti_error *error);

/* The rank of a device in a group: its place in the sorted list, whatever order the list is in.
 * Errors:  TUTTI_INVALID_ARGUMENT when the device is not in the list, the list is empty or holds a
 *          device twice; the text names the device and the list */
tutti_status tutti_group_rank(const tutti_device_id *devices, size_t device_count,
                              tutti_device_id device, int32_t *rank_out, tutti_error *error);

/* The other device of a pair, as a rank of the pair's group.
 * Errors:  TUTTI_INVALID_ARGUMENT for a pair of one device with itself */
tutti_status tutti_group_peer(tutti_device_id self, tutti_device_id other, int32_t *peer_out,
                              tutti_error *error);

#ifdef __cplusplus
}
#endif

#endif
