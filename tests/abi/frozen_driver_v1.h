#ifndef TUTTI_TESTS_ABI_FROZEN_DRIVER_V1_H
#define TUTTI_TESTS_ABI_FROZEN_DRIVER_V1_H

/* A driver as it was compiled against version 1 of the interface. Its source has its own copy of
 * what it needs of that version and includes none of today's headers: it is what an application
 * loads that was not built again. Never change it; a later version gets a frozen driver beside it.
 */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FROZEN_V1_OPERATIONS = 26 };

/* The driver's table, a const tutti_driver_table to today's code. */
const void *frozen_v1_table(void);

/* Makes `driver`, which a tutti_driver is, the one that its device belongs to, and forgets all
 * calls so far. */
void frozen_v1_attach(void *driver);

/* Handles of that device to pass to today's code. */
void *frozen_v1_stream(void);
void *frozen_v1_comm(void);

/* How often the operation with the given place in the table was called. */
int frozen_v1_calls(uint32_t place);
const char *frozen_v1_name(uint32_t place);

/* 1 when every argument so far was what the tests pass, wherever the caller put it. */
int frozen_v1_arguments_arrived(void);

/* Makes the next call fail with the given status and the text "frozen". */
void frozen_v1_fail_next(int status);

#ifdef __cplusplus
}
#endif

#endif
