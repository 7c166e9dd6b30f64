#ifndef TUTTI_TUTTI_H
#define TUTTI_TUTTI_H

/* All of Tutti. */

#include "tutti/driver.h"
#include "tutti/emu.h"
#include "tutti/explore.h"
#include "tutti/fault.h"
#include "tutti/group.h"
#include "tutti/operations.h"
#include "tutti/script.h"
#include "tutti/status.h"
#include "tutti/sweep.h"
#include "tutti/types.h"

#endif
