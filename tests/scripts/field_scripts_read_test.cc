// The scripts of tests/scripts/field: those of this version are read, those in `later` are right
// but need what comes later, and here is the one list of why.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "drivers/emu/script_parse.h"

namespace {

const char folder[] = "tests/scripts/field";

// What each script in `later` waits for: the first thing in it that this version has not.
const std::map<std::string, std::string> later = {
    {"bad_offset.tut", "'all_gather'"},       {"dead_peer_shrink.tut", "'shrink'"},
    {"order_all_gather.tut", "'all_gather'"}, {"order_all_gather_grouped.tut", "'all_gather'"},
    {"type_all_gather.tut", "'all_gather'"},
};

struct ScriptFree {
    void operator()(emu_script *script) const {
        emu_script_free(script);
    }
};

std::string contents_of(const std::filesystem::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::set<std::filesystem::path> scripts_in(const std::filesystem::path &path) {
    std::set<std::filesystem::path> scripts;
    for (const auto &entry : std::filesystem::directory_iterator(path))
        if (entry.path().extension() == ".tut") scripts.insert(entry.path());
    return scripts;
}

TEST(FieldScripts, OfThisVersionAreRead) {
    const std::set<std::filesystem::path> scripts = scripts_in(folder);
    EXPECT_GE(scripts.size(), 25u);
    for (const std::filesystem::path &path : scripts) {
        const std::string text = contents_of(path), name = path.string();
        emu_script *script = nullptr;
        tutti_error error;
        ASSERT_EQ(emu_script_parse(text.data(), text.size(), name.c_str(), &script, &error),
                  TUTTI_OK)
            << error.message;
        std::unique_ptr<emu_script, ScriptFree> owned(script);
        EXPECT_GT(script->verdict.line, 0) << name << " says how it must end";
        EXPECT_EQ(text[0], '#') << name << " says what goes wrong in the field";
    }
}

TEST(FieldScripts, OfLaterVersionsAreRightAndSayWhatTheyWaitFor) {
    const std::set<std::filesystem::path> scripts = scripts_in(std::string(folder) + "/later");
    EXPECT_EQ(scripts.size(), later.size());
    for (const std::filesystem::path &path : scripts) {
        const std::string text = contents_of(path), name = path.string();
        const auto waits_for = later.find(path.filename().string());
        ASSERT_NE(waits_for, later.end()) << name << " is not in the list";
        emu_script *script = nullptr;
        tutti_error refusal, error;
        ASSERT_EQ(emu_script_read(text.data(), text.size(), name.c_str(), SIZE_MAX, &script,
                                  &refusal, &error),
                  TUTTI_OK)
            << error.message;
        std::unique_ptr<emu_script, ScriptFree> owned(script);
        EXPECT_EQ(refusal.status, TUTTI_UNSUPPORTED);
        const std::string said = refusal.message;
        EXPECT_NE(said.find(": " + waits_for->second + " is not in this version yet"),
                  std::string::npos)
            << said;
        EXPECT_GT(script->verdict.line, 0) << name << " says how it must end";
    }
}

} // namespace
