#include "src/trace/text.h"

#include <inttypes.h>

#include "tutti/trace.h"

static void add_attribute(trace_text *out, const char *name, const char *value) {
    trace_text_add(out, " %s=\"", name);
    trace_text_add_xml(out, value);
    trace_text_add_plain(out, "\"");
}

/* What is wrong: a failure, or why it could not be run. */
static void add_trouble(trace_text *out, const char *element, const char *message,
                        const char *text) {
    if (!message) return;
    trace_text_add(out, "      <%s", element);
    add_attribute(out, "message", message);
    trace_text_add_plain(out, ">");
    if (text) trace_text_add_xml_lines(out, text);
    trace_text_add(out, "</%s>\n", element);
}

static void add_case(trace_text *out, const char *suite, const tutti_junit_case *one) {
    trace_text_add_plain(out, "    <testcase");
    add_attribute(out, "name", one->name);
    add_attribute(out, "classname", one->class_name ? one->class_name : suite);
    if (one->virtual_ns >= 0)
        trace_text_add(out, " time=\"%" PRId64 ".%09d\"", one->virtual_ns / 1000000000,
                       (int)(one->virtual_ns % 1000000000));
    if (!one->failure && !one->error && !one->text) {
        trace_text_add_plain(out, "/>\n");
        return;
    }
    trace_text_add_plain(out, ">\n");
    add_trouble(out, "error", one->error, one->text);
    add_trouble(out, "failure", one->error ? NULL : one->failure, one->text);
    if (!one->failure && !one->error) {
        trace_text_add_plain(out, "      <system-out>");
        trace_text_add_xml_lines(out, one->text);
        trace_text_add_plain(out, "</system-out>\n");
    }
    trace_text_add_plain(out, "    </testcase>\n");
}

static void add_suite(trace_text *out, const char *suite, const tutti_junit_case *cases,
                      size_t case_count) {
    size_t failures = 0, errors = 0;
    for (size_t i = 0; i < case_count; i++) {
        errors += cases[i].error != NULL;
        failures += cases[i].error == NULL && cases[i].failure != NULL;
    }
    trace_text_add_plain(out,
                         "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite");
    add_attribute(out, "name", suite);
    trace_text_add(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\">\n",
                   case_count, failures, errors);
    for (size_t i = 0; i < case_count; i++)
        add_case(out, suite, &cases[i]);
    trace_text_add_plain(out, "  </testsuite>\n</testsuites>\n");
}

tutti_status tutti_junit_write(const char *suite, const tutti_junit_case *cases, size_t case_count,
                               tutti_text_sink *sink, void *context, tutti_error *error) {
    trace_text out = {0};
    tutti_status status = TUTTI_OK;
    tutti_error_clear(error);
    add_suite(&out, suite, cases, case_count);
    if (out.failed)
        status = tutti_error_set(error, TUTTI_OUT_OF_MEMORY, "no memory is left for the XML");
    else
        sink(context, out.text, out.bytes);
    trace_text_free(&out);
    return status;
}
