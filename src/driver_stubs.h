#ifndef TUTTI_SRC_DRIVER_STUBS_H
#define TUTTI_SRC_DRIVER_STUBS_H

/* What stands in a bound table for the operations that a driver does not have. */

#include "tutti/driver.h"

/* Replaces every optional operation that is NULL by one that returns TUTTI_UNSUPPORTED, names
 * operation and driver, and tells the driver (call_refused, whose own stub does nothing). */
void tutti_driver_fill_stubs(tutti_driver_table *table);

#endif
