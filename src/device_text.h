#ifndef TUTTI_SRC_DEVICE_TEXT_H
#define TUTTI_SRC_DEVICE_TEXT_H

/* How messages write devices. */

#include "tutti/types.h"

/* A device as text, by value. The longest is "65535:65535". */
typedef struct tutti_device_text {
    char text[12];
} tutti_device_text;

/* "3" for index 3 of type 0, the usual one; "2:3" for index 3 of type 2. */
tutti_device_text tutti_device_text_of(tutti_device_id id);

#endif
