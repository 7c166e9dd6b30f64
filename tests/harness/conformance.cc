#include "tests/harness/conformance.h"

namespace tutti_test {

tutti_data_type data_type(tutti_element_type type) {
    return {type, tutti_element_type_width_bytes(type), static_cast<int32_t>(type)};
}

tutti_device *Rank::device(uint32_t number) const {
    if (number == UINT32_MAX) return tutti_rank_device(self_);
    tutti_device *device = nullptr;
    EXPECT_EQ(tutti_device_open(driver(), number, &device, nullptr), TUTTI_OK);
    return device;
}

tutti_comm *Rank::world() {
    tutti_comm *comm = nullptr;
    tutti_error error;
    EXPECT_EQ(tutti_rank_join_world(self_, nullptr, &comm, &error), TUTTI_OK) << error.message;
    return comm;
}

tutti_comm *Rank::join(const std::vector<int> &members, tutti_group_purpose purpose) {
    std::vector<tutti_device_id> devices;
    tutti_communication_id communication_id = 0;
    tutti_unique_id id;
    int32_t rank = -1;
    tutti_comm *comm = nullptr;
    for (const int member : members)
        devices.push_back(device(static_cast<uint32_t>(member))->id);
    EXPECT_EQ(tutti_communication_id_of(devices.data(), devices.size(), purpose, &communication_id,
                                        nullptr),
              TUTTI_OK);
    EXPECT_EQ(tutti_group_rank(devices.data(), devices.size(), device()->id, &rank, nullptr),
              TUTTI_OK);
    if (tutti_group_id(driver(), communication_id, &id, nullptr) != TUTTI_OK) return nullptr;
    tutti_join(device(), &id, static_cast<int32_t>(members.size()), rank, nullptr, &comm, nullptr);
    return comm;
}

tutti_stream *Rank::stream(const char *name) {
    for (const auto &[known, stream] : streams_)
        if (known == name) return stream;
    tutti_stream_options options = {sizeof options, TUTTI_STREAM_NON_BLOCKING, 0, name};
    tutti_stream *stream = nullptr;
    EXPECT_EQ(tutti_stream_create(device(), &options, &stream, nullptr), TUTTI_OK);
    streams_.emplace_back(name, stream);
    return stream;
}

tutti_buffer Rank::allocate(size_t bytes) {
    tutti_buffer buffer = {};
    EXPECT_EQ(tutti_memory_allocate(device(), bytes, &buffer, nullptr), TUTTI_OK);
    return buffer;
}

tutti_status Rank::sync(const char *stream_name) {
    return tutti_stream_synchronize(stream(stream_name), nullptr);
}

tutti_status Rank::copy_in(tutti_buffer buffer, const void *values, size_t bytes) {
    if (bytes == 0) return TUTTI_OK;
    const tutti_status status =
        tutti_copy_to_device(buffer, values, bytes, stream("copies"), nullptr);
    return status != TUTTI_OK ? status : sync("copies");
}

tutti_status Rank::copy_out(void *values, tutti_buffer buffer, size_t bytes) {
    if (bytes == 0) return TUTTI_OK;
    const tutti_status status =
        tutti_copy_to_host(values, buffer, bytes, stream("copies"), nullptr);
    return status != TUTTI_OK ? status : sync("copies");
}

tutti_status Rank::sum(tutti_comm *comm, tutti_buffer source, tutti_buffer destination,
                       size_t count) {
    const tutti_status status = tutti_all_reduce(comm, source, destination, data_type(TUTTI_F32),
                                                 count, TUTTI_SUM, stream(), nullptr);
    return status != TUTTI_OK ? status : sync();
}

static void run_body(tutti_rank *self, void *argument) {
    Rank rank(self);
    (*static_cast<const std::function<void(Rank &)> *>(argument))(rank);
}

Report run(uint32_t ranks, const std::function<void(Rank &)> &body, const RunOptions &wanted) {
    tutti_rehearsal_options options;
    tutti_rehearsal_options_init(&options, ranks);
    options.executor = target().executor;
    options.faults = wanted.faults;
    options.device_count = wanted.device_count;
    options.capacity = wanted.capacity;
    options.first_use_blocks = wanted.first_use_blocks;
    options.tolerate_group_order = wanted.tolerate_group_order;
    options.wait_timeout_ns = wanted.wait_timeout_ns;
    options.ignore_leaks = 1; // what bodies have, the end of the run gives back
    std::function<void(Rank &)> shared = body;
    tutti_report *report = nullptr;
    tutti_error error;
    EXPECT_EQ(tutti_rehearse(&options, run_body, &shared, &report, &error), TUTTI_OK)
        << error.message;
    return Report(report);
}

static std::string text_of(const tutti_report *report) {
    std::string text(tutti_report_format(report, nullptr, 0), '\0');
    tutti_report_format(report, text.data(), text.size() + 1);
    return text;
}

void expect_verdict(const tutti_report *report, tutti_verdict verdict,
                    std::initializer_list<int32_t> culprits) {
    ASSERT_NE(report, nullptr);
    EXPECT_STREQ(tutti_verdict_name(report->verdict), tutti_verdict_name(verdict))
        << text_of(report);
    const std::vector<int32_t> blamed(report->culprits, report->culprits + report->culprit_count);
    EXPECT_EQ(blamed, std::vector<int32_t>(culprits)) << text_of(report);
}

void run_well(uint32_t ranks, const std::function<void(Rank &)> &body, const RunOptions &options) {
    expect_verdict(run(ranks, body, options).get(), TUTTI_VERDICT_OK, {});
}

} // namespace tutti_test
