#include "tests/harness/pictures.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace tutti_test {

Trace read_trace(const std::string &text, uint32_t number) {
    tutti_trace *trace = nullptr;
    tutti_error error;
    EXPECT_EQ(tutti_trace_read("t", text.data(), text.size(), number, &trace, &error), TUTTI_OK)
        << error.message;
    return Trace(trace);
}

std::string trace_problem(const std::string &text, uint32_t number) {
    tutti_trace *trace = nullptr;
    tutti_error error;
    if (tutti_trace_read("t", text.data(), text.size(), number, &trace, &error) == TUTTI_OK) {
        tutti_trace_free(trace);
        return "";
    }
    EXPECT_EQ(trace, nullptr);
    return error.message;
}

static void append(void *context, const char *text, size_t bytes) {
    static_cast<std::string *>(context)->append(text, bytes);
}

std::string picture_of(const tutti_trace *trace, tutti_trace_format format, const char *title,
                       uint64_t critical_event) {
    std::string text;
    tutti_error error;
    tutti_trace_picture picture = {};
    picture.struct_size = sizeof picture;
    picture.format = format;
    picture.title = title;
    picture.critical_event = critical_event;
    EXPECT_EQ(tutti_trace_write(trace, &picture, append, &text, &error), TUTTI_OK) << error.message;
    return text;
}

std::string file_text(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file.good()) << path << " cannot be read";
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

} // namespace tutti_test
