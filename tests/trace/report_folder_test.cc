// The folder that a failing run leaves: complete or not there; nobody else's files are touched.

#include "tutti/report_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/harness/pictures.h"
#include "tests/harness/script_runner.h"
#include "tests/trace/grammar.h"

namespace files = std::filesystem;
using tutti_test::file_text;

namespace {

const std::set<std::string> all_names = {"lanes.svg",  "replay.txt",  "report.txt",
                                         "trace.json", "trace.jsonl", "waitfor.dot"};

class ReportFolder : public testing::Test {
  protected:
    void SetUp() override {
        const auto *test = testing::UnitTest::GetInstance()->current_test_info();
        root_ = testing::TempDir() + "/" + test->name();
        files::remove_all(root_);
        files::create_directories(root_);
        const tutti_test::Script script =
            tutti_test::read_script("tests/scripts/field/send_cycle.tut");
        outcome_ = tutti_test::run_script(script.get(), TUTTI_SCRIPT_AS_DATA);
    }
    tutti_status write(const std::string &path, const char *replay = "tutti run a.tut") {
        tutti_report_folder folder = {};
        folder.struct_size = sizeof folder;
        folder.report = outcome_.report.get();
        folder.trace = outcome_.trace.data();
        folder.trace_bytes = outcome_.trace.size();
        folder.replay = replay;
        return tutti_report_folder_write(path.c_str(), &folder, &error_);
    }
    std::set<std::string> names_in(const std::string &path) {
        std::set<std::string> names;
        for (const auto &entry : files::directory_iterator(path))
            names.insert(entry.path().filename().string());
        return names;
    }
    void put(const std::string &path, const std::string &text) {
        std::ofstream(path, std::ios::binary) << text;
    }

    std::string root_;
    tutti_test::Outcome outcome_;
    tutti_error error_ = {};
};

TEST_F(ReportFolder, HoldsEverything) {
    const std::string path = root_ + "/a/b/folder";
    ASSERT_EQ(write(path), TUTTI_OK) << error_.message;
    EXPECT_EQ(names_in(path), all_names);
    EXPECT_EQ(names_in(root_ + "/a/b"), std::set<std::string>{"folder"});
    EXPECT_EQ(file_text(path + "/report.txt"), tutti_test::text_of(outcome_.report.get()));
    EXPECT_EQ(file_text(path + "/replay.txt"), "tutti run a.tut\n");
    EXPECT_EQ(file_text(path + "/trace.jsonl"), outcome_.trace);
    EXPECT_EQ(chrome_problem(file_text(path + "/trace.json")), "");
    EXPECT_EQ(dot_problem(file_text(path + "/waitfor.dot")), "");
    EXPECT_EQ(xml_problem(file_text(path + "/lanes.svg")), "");
}

TEST_F(ReportFolder, ReplacesOneThatWasThere) {
    const std::string path = root_ + "/folder";
    ASSERT_EQ(write(path, "first"), TUTTI_OK);
    ASSERT_EQ(write(path + "/", "second"), TUTTI_OK) << error_.message;
    EXPECT_EQ(file_text(path + "/replay.txt"), "second\n");
    EXPECT_EQ(names_in(root_), std::set<std::string>{"folder"});
    EXPECT_EQ(names_in(path), all_names);
}

TEST_F(ReportFolder, TakesAnEmptyFolder) {
    files::create_directory(root_ + "/folder");
    ASSERT_EQ(write(root_ + "/folder"), TUTTI_OK) << error_.message;
    EXPECT_EQ(names_in(root_ + "/folder"), all_names);
}

TEST_F(ReportFolder, LeavesSomebodyElsesFilesAlone) {
    const std::string path = root_ + "/folder";
    ASSERT_EQ(write(path, "first"), TUTTI_OK);
    put(path + "/notes.txt", "mine");
    EXPECT_EQ(write(path, "second"), TUTTI_MISUSE);
    EXPECT_NE(std::string(error_.message).find(path + ": holds 'notes.txt'"), std::string::npos)
        << error_.message;
    EXPECT_EQ(file_text(path + "/notes.txt"), "mine");
    EXPECT_EQ(file_text(path + "/replay.txt"), "first\n");
    EXPECT_EQ(names_in(root_), std::set<std::string>{"folder"});
}

TEST_F(ReportFolder, AFolderOfTheSameNamesIsNotOurs) {
    files::create_directory(root_ + "/folder");
    put(root_ + "/folder/report.txt", "about the weather");
    EXPECT_EQ(write(root_ + "/folder"), TUTTI_MISUSE);
    put(root_ + "/folder/trace.jsonl", "{\"other\":1}");
    EXPECT_EQ(write(root_ + "/folder"), TUTTI_MISUSE);
    EXPECT_EQ(file_text(root_ + "/folder/report.txt"), "about the weather");
}

TEST_F(ReportFolder, ReplacesNoFileAndNoLink) {
    put(root_ + "/file", "mine");
    EXPECT_EQ(write(root_ + "/file"), TUTTI_MISUSE);
    EXPECT_EQ(file_text(root_ + "/file"), "mine");
    files::create_directory(root_ + "/real");
    files::create_directory_symlink("real", root_ + "/link");
    EXPECT_EQ(write(root_ + "/link"), TUTTI_MISUSE);
    EXPECT_TRUE(files::is_symlink(root_ + "/link"));
}

TEST_F(ReportFolder, NamesThePathThatCannotBeWritten) {
    put(root_ + "/file", "mine");
    EXPECT_EQ(write(root_ + "/file/folder"), TUTTI_SYSTEM);
    EXPECT_NE(std::string(error_.message).find(root_ + "/file"), std::string::npos)
        << error_.message;
    EXPECT_EQ(write("/proc/no/folder"), TUTTI_SYSTEM);
    EXPECT_EQ(write(""), TUTTI_INVALID_ARGUMENT);
}

TEST_F(ReportFolder, ATraceThatIsNoneLeavesNothing) {
    outcome_.trace = "garbage";
    EXPECT_EQ(write(root_ + "/folder"), TUTTI_SYNTAX);
    EXPECT_NE(std::string(error_.message).find(root_ + "/folder"), std::string::npos);
    EXPECT_EQ(names_in(root_), std::set<std::string>{});
}

TEST_F(ReportFolder, WithoutATraceSaysSo) {
    tutti_report_folder folder = {};
    folder.struct_size = sizeof folder;
    folder.report = outcome_.report.get();
    folder.replay = "x";
    const std::string path = root_ + "/folder";
    for (int i = 0; i < 2; i++) // the second replaces the first
        ASSERT_EQ(tutti_report_folder_write(path.c_str(), &folder, &error_), TUTTI_OK)
            << error_.message;
    EXPECT_EQ(names_in(path), (std::set<std::string>{"replay.txt", "report.txt", "trace.jsonl"}));
    EXPECT_NE(file_text(path + "/report.txt").find("The trace was not kept"), std::string::npos);
}

// --- Rehearsals ---

void fails(tutti_rank *self, void *) {
    tutti_rank_wrong(self, "two and two are not five");
}
void succeeds(tutti_rank *, void *) {}

tutti_verdict rehearse(tutti_rank_function *function, const char *folder, const char *name) {
    tutti_rehearsal_options options;
    tutti_rehearsal_options_init(&options, 2);
    options.report_folder = folder;
    options.name = name;
    tutti_report *report = nullptr;
    tutti_error error;
    EXPECT_EQ(tutti_rehearse(&options, function, nullptr, &report, &error), TUTTI_OK)
        << error.message;
    const tutti_verdict verdict = report->verdict;
    tutti_report_free(report);
    return verdict;
}

TEST_F(ReportFolder, IsLeftByARehearsalThatFails) {
    const std::string path = root_ + "/folder";
    EXPECT_EQ(rehearse(succeeds, path.c_str(), "sum"), TUTTI_VERDICT_OK);
    EXPECT_FALSE(files::exists(path));
    EXPECT_EQ(rehearse(fails, path.c_str(), "sum"), TUTTI_VERDICT_WRONG);
    EXPECT_EQ(names_in(path), all_names);
    EXPECT_NE(file_text(path + "/report.txt").find("not five"), std::string::npos);
    EXPECT_NE(file_text(path + "/replay.txt"), "\n");
}

TEST_F(ReportFolder, IsLeftWhereTheEnvironmentSays) {
    setenv("TUTTI_REPORT_FOLDER", root_.c_str(), 1);
    EXPECT_EQ(rehearse(fails, nullptr, "sum of/it"), TUTTI_VERDICT_WRONG);
    EXPECT_EQ(rehearse(fails, "", "nowhere"), TUTTI_VERDICT_WRONG);
    EXPECT_EQ(rehearse(fails, nullptr, nullptr), TUTTI_VERDICT_WRONG);
    unsetenv("TUTTI_REPORT_FOLDER");
    EXPECT_EQ(names_in(root_), (std::set<std::string>{"rehearsal", "sum_of_it"}));
}

TEST_F(ReportFolder, ARehearsalDoesNotStartWhereItCouldNotLeaveIt) {
    put(root_ + "/file", "mine");
    tutti_rehearsal_options options;
    tutti_rehearsal_options_init(&options, 2);
    const std::string path = root_ + "/file";
    options.report_folder = path.c_str();
    tutti_report *report = nullptr;
    EXPECT_EQ(tutti_rehearse(&options, fails, nullptr, &report, &error_), TUTTI_MISUSE);
    EXPECT_EQ(report, nullptr);
    EXPECT_NE(std::string(error_.message).find(path), std::string::npos);
}

void names_streams_alike(tutti_rank *self, void *) {
    tutti_stream_options options = {};
    options.struct_size = sizeof options;
    options.name = "side";
    tutti_stream *streams[2];
    for (tutti_stream *&stream : streams) {
        ASSERT_EQ(tutti_stream_create(tutti_rank_device(self), &options, &stream, nullptr),
                  TUTTI_OK);
        tutti_buffer buffer;
        ASSERT_EQ(tutti_memory_allocate(tutti_rank_device(self), 4, &buffer, nullptr), TUTTI_OK);
        tutti_fill(buffer, 0, stream, nullptr);
    }
    for (tutti_stream *stream : streams)
        tutti_stream_synchronize(stream, nullptr);
    tutti_rank_wrong(self, "so that there is a folder");
}

TEST_F(ReportFolder, TellsStreamsOfOneNameApart) {
    const std::string path = root_ + "/folder";
    rehearse(names_streams_alike, path.c_str(), "streams");
    const std::string text = file_text(path + "/lanes.svg");
    EXPECT_NE(text.find(">rank 1, stream side<"), std::string::npos);
    EXPECT_NE(text.find(">rank 1, stream side 1<"), std::string::npos) << text;
}

// Programs that were built when rehearsals had no report folder.
TEST_F(ReportFolder, OlderOptionsHaveNone) {
    tutti_rehearsal_options options;
    tutti_rehearsal_options_init(&options, 2);
    options.struct_size = offsetof(tutti_rehearsal_options, report_folder);
    options.report_folder = reinterpret_cast<const char *>(1);
    tutti_report *report = nullptr;
    EXPECT_EQ(tutti_rehearse(&options, succeeds, nullptr, &report, &error_), TUTTI_OK);
    tutti_report_free(report);
}

} // namespace
