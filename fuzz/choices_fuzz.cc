// Choice strings: any text is read or refused with its column; what was read has one text, which
// gives the same record again.

#include "drivers/emu/choices.h"
#include "fuzz/entry.h"
#include "fuzz/require.h"

namespace {

using tutti_fuzz::require;

bool parse(const std::string &text, emu_choice_record *record, tutti_error *error) {
    *record = {};
    const tutti_status status = emu_choice_record_parse(text.data(), text.size(), record, error);
    if (status == TUTTI_OK) return true;
    require(record->runs == nullptr, "a record that could not be read was touched");
    require(error->message[0] != '\0', "an error without words");
    return false;
}

std::string format(const emu_choice_record &record) {
    std::string text(emu_choice_record_format(&record, nullptr, 0) + 1, '\0');
    emu_choice_record_format(&record, text.data(), text.size());
    text.pop_back();
    return text;
}

void check_runs(const emu_choice_record &record) {
    require(record.run_count <= EMU_CHOICE_RUNS_MAX, "more runs than a record may have");
    for (uint32_t i = 0; i < record.run_count; i++) {
        require(record.runs[i].count >= 1, "a run of no answers");
        require(record.runs[i].answer <= EMU_CHOICE_ANSWER_MAX, "an answer that is too large");
        require(record.runs[i].kind < EMU_CHOICE_KIND_COUNT, "a kind that does not exist");
    }
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tutti_error error;
    emu_choice_record record, again;
    if (!parse(std::string(reinterpret_cast<const char *>(data), size), &record, &error)) return 0;
    check_runs(record);
    const std::string text = format(record);
    require(parse(text, &again, &error), "its own text cannot be read: " + text);
    require(format(again) == text, "its text changes: " + text + "\n" + format(again));
    char cut[8];
    require(emu_choice_record_format(&record, cut, sizeof cut) == text.size(), "lengths differ");
    require(std::string(cut) == text.substr(0, sizeof cut - 1), "a cut text differs");
    emu_choice_record_free(&again);
    emu_choice_record_free(&record);
    return 0;
}
