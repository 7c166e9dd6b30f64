// The report as text, made from reports that are written down here: no run is needed.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tutti/emu.h"

namespace {

std::string text_of(const tutti_report &report) {
    std::string text(tutti_report_format(&report, nullptr, 0), '\0');
    EXPECT_EQ(tutti_report_format(&report, text.data(), text.size() + 1), text.size());
    return text;
}

size_t count_of(const std::string &text, const std::string &piece) {
    size_t count = 0;
    for (size_t at = text.find(piece); at != std::string::npos; at = text.find(piece, at + 1))
        count++;
    return count;
}

const int32_t rank_0[] = {0};
const int32_t rank_1[] = {1};

tutti_finding finding_of(tutti_verdict kind, const char *detail, const int32_t *rank,
                         const char *text, int32_t follows = -1) {
    tutti_finding finding = {};
    finding.kind = kind;
    finding.follows = follows;
    finding.detail = detail;
    finding.ranks = rank;
    finding.rank_count = rank == nullptr ? 0 : 1;
    finding.text = text;
    return finding;
}

// A report with something in every place.
struct FullReport {
    tutti_finding findings[3];
    tutti_rank_line ranks[2] = {{0, "waits in stream_synchronize"}, {1, ""}};
    tutti_report report = {};

    FullReport() {
        findings[0] = finding_of(TUTTI_VERDICT_MISSING, "", rank_1, "operation 3\nTo change: x.\n");
        findings[1] = finding_of(TUTTI_VERDICT_TIMEOUT, "", rank_0, "rank 0 waited", 0);
        findings[2] = finding_of(TUTTI_VERDICT_REFUSED, "join", rank_1, "busy");
        findings[2].is_note = 1;
        report.verdict = TUTTI_VERDICT_MISSING;
        report.culprits = rank_1;
        report.culprit_count = 1;
        report.findings = findings;
        report.finding_count = 3;
        report.ranks = ranks;
        report.rank_count = 2;
        report.faults_unfired = "rule 1: send=kill\nrule 2: recv=kill\n";
        report.choices = "12";
        report.trace_hash = 0xabc;
        report.event_count = 1;
        report.call_count = 4;
        report.virtual_ns = 5000000;
        report.name = "uneven";
        report.repeat = "tutti run uneven.tut";
        report.real_ns = 123456;
    }
};

TEST(ReportText, PutsCausesFirstAndNotesLast) {
    EXPECT_EQ(text_of(FullReport().report), "verdict   missing, culprit 1, 1 note\n"
                                            "\n"
                                            "finding   missing, rank 1\n"
                                            "          operation 3\n"
                                            "          To change: x.\n"
                                            "follows   timeout, rank 0\n"
                                            "          rank 0 waited\n"
                                            "\n"
                                            "note      refused (join), rank 1\n"
                                            "          busy\n"
                                            "\n"
                                            "ranks     0  waits in stream_synchronize\n"
                                            "          1\n"
                                            "\n"
                                            "unfired   rules of the fault plan that never acted:\n"
                                            "          rule 1: send=kill\n"
                                            "          rule 2: recv=kill\n"
                                            "choices   12\n"
                                            "trace     0000000000000abc, 1 event, 4 calls, 5ms of "
                                            "virtual time\n"
                                            "program   uneven\n"
                                            "repeat    tutti run uneven.tut\n");
}

TEST(ReportText, IsCutAnywhereAndAlwaysEnds) {
    const FullReport full;
    const std::string whole = text_of(full.report);
    for (size_t room = 1; room <= whole.size() + 1; room++) {
        std::vector<char> text(room + 1, '!');
        EXPECT_EQ(tutti_report_format(&full.report, text.data(), room), whole.size());
        EXPECT_EQ(std::string(text.data()), whole.substr(0, room - 1));
        EXPECT_EQ(text[room], '!');
    }
}

TEST(ReportText, AnEmptyReportIsOk) {
    const tutti_report report = {};
    EXPECT_EQ(text_of(report), "verdict   ok\n\ntrace     0000000000000000, 0 events, 0 calls, 0ns "
                               "of virtual time\n");
}

TEST(ReportText, DoesNotTellHowLongItTook) {
    FullReport slow;
    slow.report.real_ns = 99;
    EXPECT_EQ(text_of(slow.report), text_of(FullReport().report));
}

TEST(ReportText, NamesWhatItDoesNotKnow) {
    FullReport full;
    full.report.verdict = static_cast<tutti_verdict>(77);
    EXPECT_EQ(text_of(full.report).rfind("verdict   unknown, culprit 1", 0), 0u);
    EXPECT_STREQ(tutti_verdict_name(static_cast<tutti_verdict>(-1)), "unknown");
    EXPECT_STREQ(tutti_verdict_name(TUTTI_VERDICT_COUNT), "unknown");
    for (int verdict = 0; verdict < TUTTI_VERDICT_COUNT; verdict++)
        EXPECT_STRNE(tutti_verdict_name(static_cast<tutti_verdict>(verdict)), "unknown") << verdict;
}

TEST(ReportText, MovesNoCursor) {
    FullReport full;
    full.findings[0].text = "\033[2J\rgone\x7f";
    const std::string text = text_of(full.report);
    EXPECT_NE(text.find("?[2J?gone?"), std::string::npos);
    for (const char c : text)
        EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7f));
}

// Chains that close, or lead nowhere, lose no finding and end.
TEST(ReportText, SurvivesFindingsThatFollowFromEachOther) {
    FullReport full;
    full.findings[0].follows = 1;
    full.findings[1].follows = 0;
    full.findings[2].follows = 99;
    const std::string text = text_of(full.report);
    EXPECT_EQ(count_of(text, "missing, rank 1"), 1u);
    EXPECT_EQ(count_of(text, "timeout, rank 0"), 1u);
    EXPECT_EQ(count_of(text, "refused (join), rank 1"), 1u);
}

TEST(ReportText, GroupsAChainBelowItsRoot) {
    FullReport full;
    full.findings[2] = finding_of(TUTTI_VERDICT_WRONG, "", rank_0, "three", 1);
    const std::string text = text_of(full.report);
    EXPECT_LT(text.find("follows   timeout"), text.find("follows   wrong"));
    EXPECT_EQ(count_of(text, "\nfinding "), 1u);
}

TEST(ReportText, CountsWhatWouldFillPages) {
    std::vector<tutti_finding> findings(1000,
                                        finding_of(TUTTI_VERDICT_MISUSE, "", rank_0, "again"));
    for (size_t i = 900; i < findings.size(); i++)
        findings[i].follows = 0;
    tutti_report report = {};
    report.verdict = TUTTI_VERDICT_MISUSE;
    report.findings = findings.data();
    report.finding_count = 1000;
    const std::string text = text_of(report);
    EXPECT_EQ(count_of(text, "\nfinding "), 20u);
    EXPECT_EQ(count_of(text, "\nfollows "), 8u);
    EXPECT_NE(text.find("and 92 findings more"), std::string::npos) << text;
    EXPECT_NE(text.find("and 880 findings more"), std::string::npos) << text;
}

TEST(ReportText, CountsFindingsThatWereNotKept) {
    FullReport full;
    EXPECT_EQ(text_of(full.report).find("not kept"), std::string::npos);
    full.report.findings_dropped = 1;
    EXPECT_NE(text_of(full.report).find("\ndropped   and 1 more finding that was not kept\n"),
              std::string::npos);
    full.report.findings_dropped = 70000;
    EXPECT_NE(text_of(full.report).find("\ndropped   and 70000 more findings that were not kept\n"),
              std::string::npos);
}

TEST(ReportText, ListsRanksAsRanges) {
    const int32_t ranks[] = {0, 1, 2, 3, 7, 9, 10};
    tutti_report report = {};
    report.verdict = TUTTI_VERDICT_DEADLOCK;
    report.culprits = ranks;
    report.culprit_count = 7;
    EXPECT_EQ(text_of(report).substr(0, 45), "verdict   deadlock, culprits 0-3, 7, 9, 10\n\nt");
}

TEST(ReportText, CutsLongListsOfRanks) {
    std::vector<int32_t> ranks;
    for (int32_t rank = 0; rank < 100; rank++)
        ranks.push_back(2 * rank);
    tutti_report report = {};
    report.verdict = TUTTI_VERDICT_DEADLOCK;
    report.culprits = ranks.data();
    report.culprit_count = 100;
    EXPECT_NE(text_of(report).find("28, 30, and 84 more\n"), std::string::npos);
}

// A large cluster: neighbours that stand alike share a line, whoever is to blame has one.
TEST(ReportText, FitsManyRanksIntoFewLines) {
    const int32_t culprit[] = {50000};
    std::vector<tutti_rank_line> ranks;
    for (int32_t rank = 0; rank < 100000; rank++)
        ranks.push_back({rank, "waits"});
    ranks[50000].text = "killed";
    tutti_report report = {};
    report.verdict = TUTTI_VERDICT_KILLED;
    report.culprits = culprit;
    report.culprit_count = 1;
    report.ranks = ranks.data();
    report.rank_count = 100000;
    EXPECT_NE(text_of(report).find("\nranks     0-49999      waits\n"
                                   "          50000        killed\n"
                                   "          50001-99999  waits\n"),
              std::string::npos)
        << text_of(report);
    for (int32_t rank = 0; rank < 100000; rank++)
        if (rank != 50000) ranks[static_cast<size_t>(rank)].text = rank % 2 ? "waits" : "runs";
    const std::string text = text_of(report);
    EXPECT_NE(text.find("  killed\n"), std::string::npos);
    EXPECT_NE(text.find("and 99935 ranks more"), std::string::npos) << text;
}

} // namespace
