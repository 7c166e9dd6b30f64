#ifndef TUTTI_TESTS_UNIT_ODD_VALUES_H
#define TUTTI_TESTS_UNIT_ODD_VALUES_H

/* Calls with numbers that no constant of an enumeration has. A caller in C can make them; in C++
 * such a value may not even exist, so the tests go through here. */

#include "tutti/driver.h"
#include "tutti/group.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As tutti_communication_id_of(). */
tutti_status odd_communication_id_of(const tutti_device_id *devices, size_t device_count,
                                     int purpose, tutti_communication_id *id_out,
                                     tutti_error *error);

/* As tutti_check_all_reduce(). */
tutti_status odd_check_all_reduce(const tutti_comm *comm, tutti_buffer buffer, int element_type,
                                  uint32_t width_bytes, size_t count, int op,
                                  const tutti_stream *stream, tutti_error *error);

/* The names that the library has for any number. */
const char *odd_status_name(int status);
const char *odd_element_type_name(int type);
uint32_t odd_element_type_width_bytes(int type);
const char *odd_reduce_op_name(int op);

#ifdef __cplusplus
}
#endif

#endif
