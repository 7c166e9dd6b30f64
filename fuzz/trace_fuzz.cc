// Traces: any text is read or refused with its place; one that can be read is written in every
// format, twice alike.

#include "fuzz/entry.h"
#include "fuzz/require.h"
#include "tutti/trace.h"

namespace {

using tutti_fuzz::require;

void append(void *context, const char *text, size_t text_bytes) {
    static_cast<std::string *>(context)->append(text, text_bytes);
}

std::string write(const tutti_trace *trace, tutti_trace_format format) {
    std::string text;
    tutti_error error;
    tutti_trace_picture picture = {};
    picture.struct_size = sizeof picture;
    picture.format = format;
    picture.title = "a <title> & \"more\"";
    picture.critical_event = 2;
    picture.critical_text = "rank 1";
    const tutti_status status = tutti_trace_write(trace, &picture, append, &text, &error);
    if (status == TUTTI_OK) return text;
    require(error.message[0] != '\0', "an error without words");
    require(text.empty(), "something was written in spite of an error");
    return std::string("refused: ") + error.message;
}

void check_error(tutti_status status, const tutti_error &error) {
    const std::string message = error.message;
    require(!message.empty(), "an error without words");
    if (status != TUTTI_SYNTAX) return;
    require(message.rfind("fuzz.jsonl:", 0) == 0, "an error without its place: " + message);
    require(error.place.line >= 1, "an error without its line: " + message);
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tutti_error error;
    tutti_trace *trace = nullptr;
    const std::string text(reinterpret_cast<const char *>(data), size);
    const tutti_status status =
        tutti_trace_read("fuzz.jsonl", text.data(), text.size(), 0, &trace, &error);
    require((status == TUTTI_OK) == (trace != nullptr), "a status and its trace disagree");
    if (trace == nullptr) {
        check_error(status, error);
        return 0;
    }
    for (int format = 0; format < TUTTI_TRACE_FORMAT_COUNT; format++) {
        const auto kind = static_cast<tutti_trace_format>(format);
        require(write(trace, kind) == write(trace, kind), "two pictures of one trace differ");
    }
    tutti_trace_free(trace);
    return 0;
}
