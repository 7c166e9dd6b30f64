#ifndef TUTTI_TOOLS_REPORT_JSON_H
#define TUTTI_TOOLS_REPORT_JSON_H

/* Reports as JSON. All makers give NULL when memory is out; so does an object or array that was to
 * hold one. */

#include <jansson.h>

#include "tutti/emu.h"

/* A text; bytes that are not UTF-8 become U+FFFD. NULL is the empty text. */
json_t *text_json(const char *text);

/* Put a value, which is then the object's or array's; that one, or NULL. */
json_t *put(json_t *object, const char *key, json_t *value);
json_t *append(json_t *array, json_t *value);

json_t *ranks_json(const int32_t *ranks, uint32_t count);

/* Puts everything that a report says. */
json_t *put_report(json_t *object, const tutti_report *report);

#endif
