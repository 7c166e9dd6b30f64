#ifndef TUTTI_SRC_PLACE_H
#define TUTTI_SRC_PLACE_H

/* The place that the macros of tutti/operations.h note, on its way to the call that follows. */

#include "tutti/status.h"

/* Takes the place that this thread noted last; empty when none was noted since the last take, so
 * that no call ever carries the place of another. */
tutti_place tutti_place_take(void);

#endif
