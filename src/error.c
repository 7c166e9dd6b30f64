#include "tutti/status.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* One row of the status list. */
typedef struct status_entry {
    tutti_status status;
    const char *name;
    const char *text;
} status_entry;

static const status_entry STATUSES[] = {
#define STATUS_ENTRY(name, value, text, description) {TUTTI_##name, text, description},
    TUTTI_STATUS_LIST(STATUS_ENTRY)
#undef STATUS_ENTRY
};

enum { STATUS_COUNT = sizeof(STATUSES) / sizeof(STATUSES[0]) };

static const status_entry *find_status(tutti_status status) {
    for (size_t i = 0; i < STATUS_COUNT; i++) {
        if (STATUSES[i].status == status) return &STATUSES[i];
    }
    return NULL;
}

const char *tutti_status_name(tutti_status status) {
    const status_entry *entry = find_status(status);
    return entry == NULL ? "unknown" : entry->name;
}

const char *tutti_status_text(tutti_status status) {
    const status_entry *entry = find_status(status);
    return entry == NULL ? "a number that is not the value of any status" : entry->text;
}

tutti_status tutti_status_parse(const char *name, size_t name_bytes, tutti_status *status_out) {
    if (name == NULL || status_out == NULL) return TUTTI_INVALID_ARGUMENT;
    for (size_t i = 0; i < STATUS_COUNT; i++) {
        const char *candidate = STATUSES[i].name;
        if (strlen(candidate) == name_bytes && memcmp(candidate, name, name_bytes) == 0) {
            *status_out = STATUSES[i].status;
            return TUTTI_OK;
        }
    }
    return TUTTI_INVALID_ARGUMENT;
}

/* The length of a text when it is cut to fit into `text_bytes` with its NUL: never in the middle of
 * a UTF-8 character, since names of groups and files may have some. */
static size_t cut_length(const char *text, size_t text_bytes) {
    enum { CONTINUATION_BYTES_MAX = 3 };
    const size_t length = strlen(text);
    if (length < text_bytes) return length;
    size_t cut = text_bytes - 1;
    for (int i = 0; i < CONTINUATION_BYTES_MAX && cut > 0; i++) {
        const bool continues = ((unsigned char)text[cut] & 0xC0) == 0x80;
        if (!continues) break;
        cut--;
    }
    return cut;
}

static void copy_text(char *destination, size_t destination_bytes, const char *source) {
    const size_t length = cut_length(source, destination_bytes);
    memmove(destination, source, length);
    destination[length] = '\0';
}

/* A message of its own, not yet the error's: the arguments may point into the error. */
typedef struct message_text {
    char text[TUTTI_ERROR_MESSAGE_BYTES + 4]; /* so long that a cut shows what it would split */
} message_text;

static message_text format_message(tutti_status status, const char *format, va_list arguments) {
    message_text message;
    const int length = vsnprintf(message.text, sizeof(message.text), format, arguments);
    if (length < 0) copy_text(message.text, sizeof(message.text), tutti_status_text(status));
    return message;
}

/* Entries of the chain; a number that cannot be is taken for the nearest one that can. */
static uint32_t cause_count(const tutti_error *error) {
    return error->cause_count < TUTTI_ERROR_CAUSES_MAX ? error->cause_count
                                                       : TUTTI_ERROR_CAUSES_MAX;
}

/* Only what is read afterwards is written: this runs in every call, and the texts are long. */
void tutti_error_clear(tutti_error *error) {
    if (error == NULL) return;
    error->status = TUTTI_OK;
    error->rank = -1;
    error->operation = NULL;
    error->place.file = NULL;
    error->place.line = 0;
    error->native_domain = NULL;
    error->native_code = 0;
    error->cause_count = 0;
    error->message[0] = '\0';
}

tutti_status tutti_error_set(tutti_error *error, tutti_status status, const char *format, ...) {
    assert(format != NULL);
    if (error == NULL) return status;
    va_list arguments;
    va_start(arguments, format);
    const message_text message = format_message(status, format, arguments);
    va_end(arguments);
    error->status = status;
    error->cause_count = 0;
    copy_text(error->message, sizeof(error->message), message.text);
    return status;
}

/* Puts what the error says at the head of its chain. A full chain loses the cause before the root:
 * the nearest say what was tried, the root says what to repair. */
static void push_cause(tutti_error *error) {
    static_assert(TUTTI_ERROR_CAUSES_MAX >= 2, "a full chain has a root and one before it");
    uint32_t count = cause_count(error);
    if (count == TUTTI_ERROR_CAUSES_MAX) {
        error->causes[count - 2] = error->causes[count - 1];
        count--;
    }
    memmove(&error->causes[1], &error->causes[0], count * sizeof(error->causes[0]));
    error->causes[0].status = error->status;
    copy_text(error->causes[0].message, sizeof(error->causes[0].message), error->message);
    error->cause_count = count + 1;
}

tutti_status tutti_error_wrap(tutti_error *error, tutti_status status, const char *format, ...) {
    assert(format != NULL);
    if (error == NULL) return status;
    va_list arguments;
    va_start(arguments, format);
    const message_text message = format_message(status, format, arguments);
    va_end(arguments);
    const bool has_failed = error->status != TUTTI_OK || error->message[0] != '\0';
    if (has_failed) push_cause(error);
    error->status = status;
    copy_text(error->message, sizeof(error->message), message.text);
    return status;
}

int tutti_error_has(const tutti_error *error, tutti_status status) {
    if (error == NULL) return status == TUTTI_OK;
    if (error->status == status) return 1;
    for (uint32_t i = 0; i < cause_count(error); i++) {
        if (error->causes[i].status == status) return 1;
    }
    return 0;
}

/* Writes as much as fits and counts what the whole text needs. */
typedef struct text_writer {
    char *text;
    size_t text_bytes;
    size_t length; /* of the whole text so far */
} text_writer;

static void put(text_writer *writer, const char *text) {
    for (; *text != '\0'; text++) {
        if (writer->length + 1 < writer->text_bytes) writer->text[writer->length] = *text;
        writer->length++;
    }
}

static void put_number(text_writer *writer, int64_t number) {
    char digits[24];
    (void)snprintf(digits, sizeof(digits), "%lld", (long long)number);
    put(writer, digits);
}

static void put_failure(text_writer *writer, tutti_status status, const char *message) {
    put(writer, tutti_status_name(status));
    put(writer, ": ");
    put(writer, message[0] == '\0' ? tutti_status_text(status) : message);
}

/* "[all_reduce, rank 3, train.c:12, nccl 5]", of which only what is known. */
static void put_circumstances(text_writer *writer, const tutti_error *error) {
    const char *separator = " [";
    if (error->operation != NULL) {
        put(writer, separator);
        put(writer, error->operation);
        separator = ", ";
    }
    if (error->rank >= 0) {
        put(writer, separator);
        put(writer, "rank ");
        put_number(writer, error->rank);
        separator = ", ";
    }
    if (error->place.file != NULL) {
        put(writer, separator);
        put(writer, error->place.file);
        put(writer, ":");
        put_number(writer, error->place.line);
        separator = ", ";
    }
    if (error->native_domain != NULL) {
        put(writer, separator);
        put(writer, error->native_domain);
        put(writer, " ");
        put_number(writer, error->native_code);
        separator = ", ";
    }
    if (separator[0] == ',') put(writer, "]");
}

size_t tutti_error_format(const tutti_error *error, char *text, size_t text_bytes) {
    text_writer writer = {text, text == NULL ? 0 : text_bytes, 0};
    put_failure(&writer, error == NULL ? TUTTI_OK : error->status,
                error == NULL ? "" : error->message);
    if (error != NULL) {
        put_circumstances(&writer, error);
        for (uint32_t i = 0; i < cause_count(error); i++) {
            put(&writer, "\n  caused by ");
            put_failure(&writer, error->causes[i].status, error->causes[i].message);
        }
    }
    if (writer.text_bytes > 0) {
        const size_t last = writer.text_bytes - 1;
        writer.text[writer.length < last ? writer.length : last] = '\0';
    }
    return writer.length;
}
