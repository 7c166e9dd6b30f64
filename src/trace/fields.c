#include "src/trace/reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Failures --- */

void trace_reader_fail(trace_reader *reader, size_t column, const char *format, ...) {
    char message[TUTTI_ERROR_MESSAGE_BYTES];
    if (reader->status != TUTTI_OK) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    reader->status = tutti_error_set(reader->error, TUTTI_SYNTAX, "%s:%" PRIu32 ":%zu: %s",
                                     reader->name, reader->line_number, column, message);
    if (reader->error) reader->error->place.line = (int32_t)reader->line_number;
}

void trace_reader_no_memory(trace_reader *reader) {
    if (reader->status != TUTTI_OK) return;
    reader->status = tutti_error_set(reader->error, TUTTI_OUT_OF_MEMORY,
                                     "%s: no memory is left to read the trace", reader->name);
}

/* --- Lines --- */

bool trace_reader_parse_line(trace_reader *reader) {
    json_error_t error;
    json_t *object = json_loadb(reader->line, reader->line_bytes, JSON_REJECT_DUPLICATES, &error);
    reader->object = object;
    if (object && json_is_object(object)) return true;
    if (object)
        trace_reader_fail(reader, 1, "expected an object, {...}");
    else if (json_error_code(&error) == json_error_out_of_memory)
        trace_reader_no_memory(reader);
    else
        trace_reader_fail(reader, error.column > 0 ? (size_t)error.column : 1, "%s", error.text);
    json_decref(object);
    reader->object = NULL;
    return false;
}

/* The column of a key, for messages about its value; 1 when it cannot be found as it is written. */
static size_t column_of(const trace_reader *reader, const char *key) {
    const size_t key_bytes = strlen(key);
    for (size_t i = 0; i + key_bytes + 3 <= reader->line_bytes; i++) {
        const char *at = reader->line + i;
        if (at[0] == '"' && memcmp(at + 1, key, key_bytes) == 0 &&
            memcmp(at + 1 + key_bytes, "\":", 2) == 0)
            return i + 1;
    }
    return 1;
}

/* --- Values --- */

static const json_t *needed(trace_reader *reader, const char *key) {
    const json_t *value = json_object_get(reader->object, key);
    if (!value) trace_reader_fail(reader, 1, "expected a \"%s\" in this line", key);
    return value;
}

static int64_t integer_of(trace_reader *reader, const json_t *value, const char *key, int64_t least,
                          int64_t most) {
    const int64_t number = json_integer_value(value);
    if (json_is_integer(value) && number >= least && number <= most) return number;
    trace_reader_fail(reader, column_of(reader, key),
                      "\"%s\" must be a number from %" PRId64 " to %" PRId64, key, least, most);
    return least;
}

int64_t trace_field_integer(trace_reader *reader, const char *key, int64_t least, int64_t most,
                            int64_t absent) {
    const json_t *value = json_object_get(reader->object, key);
    return value ? integer_of(reader, value, key, least, most) : absent;
}

int64_t trace_field_integer_needed(trace_reader *reader, const char *key, int64_t least,
                                   int64_t most) {
    const json_t *value = needed(reader, key);
    return value ? integer_of(reader, value, key, least, most) : least;
}

/* Streams are named, or numbered: both become a name. */
static const char *name_of(trace_reader *reader, const json_t *value, const char *key) {
    char number[32];
    const char *text = json_string_value(value);
    size_t bytes = json_string_length(value);
    if (json_is_integer(value)) {
        bytes =
            (size_t)snprintf(number, sizeof number, "%" PRId64, (int64_t)json_integer_value(value));
        text = number;
    }
    if (!text) {
        trace_reader_fail(reader, column_of(reader, key), "\"%s\" must be a text", key);
        return "";
    }
    const char *name = trace_names_keep(&reader->trace->names, text, bytes);
    if (!name) trace_reader_no_memory(reader);
    return name ? name : "";
}

const char *trace_field_name(trace_reader *reader, const char *key) {
    const json_t *value = json_object_get(reader->object, key);
    return value ? name_of(reader, value, key) : NULL;
}

const char *trace_field_name_needed(trace_reader *reader, const char *key) {
    const json_t *value = needed(reader, key);
    return value ? name_of(reader, value, key) : "";
}

bool trace_field_flag(trace_reader *reader, const char *key) {
    const json_t *value = json_object_get(reader->object, key);
    if (value && !json_is_boolean(value))
        trace_reader_fail(reader, column_of(reader, key), "\"%s\" must be true or false", key);
    return json_is_true(value);
}
