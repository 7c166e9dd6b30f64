#ifndef TUTTI_TRACE_TEXT_H
#define TUTTI_TRACE_TEXT_H

/* A text that grows, and how the formats quote what came from a program. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct trace_text {
    char *text; /* for free(); NULL before the first piece */
    size_t bytes, room;
    bool failed; /* memory was out: the text is of no use */
} trace_text;

void trace_text_free(trace_text *text);

void trace_text_add_bytes(trace_text *text, const char *piece, size_t bytes);
void trace_text_add_plain(trace_text *text, const char *piece);
void trace_text_add(trace_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Each takes any bytes: what is no UTF-8, or what the format cannot carry, becomes U+FFFD. */
void trace_text_add_xml(trace_text *text, const char *piece);       /* in attributes */
void trace_text_add_xml_lines(trace_text *text, const char *piece); /* in elements */
void trace_text_add_json(trace_text *text, const char *piece);      /* between double quotes */
void trace_text_add_dot(trace_text *text, const char *piece);       /* between double quotes */
void trace_text_add_mermaid(trace_text *text, const char *piece);   /* in a message or note */

/* The same, of the first line only. */
typedef void text_quote(trace_text *text, const char *piece);
void trace_text_add_first_line(trace_text *text, text_quote *quote, const char *piece);

/* A time: "1.5s". */
void trace_text_add_time(trace_text *text, int64_t ns);

#endif
