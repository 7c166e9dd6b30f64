// The code in the documents is true: scripts end as they say, and C and C++ is taken from examples
// that are compiled and run.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tutti/script.h"

namespace {

namespace fs = std::filesystem;

struct Block {
    std::string place; // file:line of its fence
    std::string language;
    std::string text;
};

std::string contents_of(const fs::path &path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<Block> blocks_of(const fs::path &path) {
    std::vector<Block> blocks;
    std::ifstream file(path);
    std::string line;
    bool inside = false;
    for (int number = 1; std::getline(file, line); number++) {
        if (line.rfind("```", 0) == 0) {
            if (!inside)
                blocks.push_back(
                    {path.string() + ":" + std::to_string(number), line.substr(3), ""});
            inside = !inside;
        } else if (inside) {
            blocks.back().text += line + "\n";
        }
    }
    EXPECT_FALSE(inside) << path << " ends inside of a block";
    return blocks;
}

std::vector<Block> all_blocks(const std::vector<std::string> &languages) {
    std::vector<fs::path> documents = {"README.md"};
    for (const auto &entry : fs::directory_iterator("docs"))
        if (entry.path().extension() == ".md") documents.push_back(entry.path());
    std::vector<Block> found;
    for (const fs::path &document : documents)
        for (const Block &block : blocks_of(document))
            for (const std::string &language : languages)
                if (block.language == language) found.push_back(block);
    return found;
}

TEST(Documents, ScriptsEndAsTheySay) {
    const std::vector<Block> blocks = all_blocks({"tut"});
    EXPECT_GE(blocks.size(), 3u);
    for (const Block &block : blocks) {
        tutti_script *script = nullptr;
        tutti_report *report = nullptr;
        tutti_error error;
        ASSERT_EQ(tutti_script_parse(block.place.c_str(), block.text.data(), block.text.size(),
                                     &script, &error),
                  TUTTI_OK)
            << error.message;
        ASSERT_EQ(tutti_script_run(script, nullptr, &report, &error), TUTTI_OK) << error.message;
        EXPECT_TRUE(tutti_script_ends_as_expected(script, report))
            << block.place << " ends with " << tutti_verdict_name(report->verdict);
        tutti_report_free(report);
        tutti_script_free(script);
    }
}

TEST(Documents, CodeStandsInAnExample) {
    std::string examples;
    for (const auto &entry : fs::recursive_directory_iterator("examples"))
        if (entry.is_regular_file()) examples += contents_of(entry.path());
    const std::vector<Block> blocks = all_blocks({"c", "cpp"});
    EXPECT_GE(blocks.size(), 3u);
    for (const Block &block : blocks)
        EXPECT_NE(examples.find(block.text), std::string::npos)
            << block.place << " shows code that is in no file of examples/";
}

TEST(Documents, TheFirstProgramIsTheOneThatRuns) {
    for (const Block &block : blocks_of("README.md")) {
        if (block.language != "c") continue;
        EXPECT_EQ(block.text, contents_of("examples/first_program.c"));
        return;
    }
    FAIL() << "README.md shows no program";
}

} // namespace
