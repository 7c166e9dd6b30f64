// A long search with random programs, on all cores: bazelw run //fuzz:campaign -- --minutes 60.
// Each program depends on its kind and number alone, so that what was found can be tried again.
// Every worker is a process of its own; what it works on stands in shared memory, so that a crash
// and a hang are found like everything else.

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "fuzz/programs/program_checks.h"
#include "fuzz/programs/shorten.h"

namespace {

using namespace tutti_test;
using Clock = std::chrono::steady_clock;

enum {
    kWorkersMax = 256,
    kSchedules = 3,     // random ones, of each program
    kHangSeconds = 120, // for one program
};

struct Options {
    long minutes = 60;
    uint64_t first = 0;
    uint64_t programs = UINT64_MAX;
    uint64_t failures = 1; // ends the search
    unsigned workers = 0;  // 0: one per core
    int kind = -1;         // -1: all
};

struct Worker {
    std::atomic<uint64_t> number;  // that it works on
    std::atomic<int64_t> since_ms; // it works on that
    std::atomic<uint64_t> tried[kProgramKindCount];
};

// Lies in memory that all processes share.
struct Board {
    std::atomic<uint64_t> next;     // program
    std::atomic<uint64_t> failures; // so far
    Worker workers[kWorkersMax];
};

int64_t now_ms() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch())
        .count();
}

// --- The command line ---

[[noreturn]] void stop_with_usage() {
    std::fprintf(stderr, "usage: campaign [--minutes N] [--first NUMBER] [--programs N] "
                         "[--kind correct|arbitrary|mutated] [--failures N] [--workers N]\n");
    std::exit(2);
}

uint64_t number_of(const char *text) {
    char *rest;
    const uint64_t number = std::strtoull(text, &rest, 10);
    if (*text == '\0' || *text == '-' || *rest != '\0') stop_with_usage();
    return number;
}

int kind_of(const std::string &name) {
    for (int kind = 0; kind < kProgramKindCount; kind++)
        if (name == program_kind_name(static_cast<ProgramKind>(kind))) return kind;
    stop_with_usage();
}

Options read_options(int argc, char **argv) {
    Options options;
    for (int i = 1; i < argc; i += 2) {
        const std::string name = argv[i];
        if (i + 1 == argc) stop_with_usage();
        if (name == "--kind")
            options.kind = kind_of(argv[i + 1]);
        else if (name == "--minutes")
            options.minutes = static_cast<long>(number_of(argv[i + 1]));
        else if (name == "--first")
            options.first = number_of(argv[i + 1]);
        else if (name == "--programs")
            options.programs = number_of(argv[i + 1]);
        else if (name == "--failures")
            options.failures = number_of(argv[i + 1]);
        else if (name == "--workers")
            options.workers = static_cast<unsigned>(number_of(argv[i + 1]));
        else
            stop_with_usage();
    }
    if (options.workers == 0) options.workers = std::thread::hardware_concurrency();
    options.workers = std::min(std::max(options.workers, 1u), static_cast<unsigned>(kWorkersMax));
    return options;
}

// --- One program ---

ProgramKind kind_of_number(const Options &options, uint64_t number) {
    return static_cast<ProgramKind>(options.kind >= 0 ? static_cast<uint64_t>(options.kind)
                                                      : number % kProgramKindCount);
}

void tell(const Options &options, uint64_t number, const std::string &what) {
    const char *kind = program_kind_name(kind_of_number(options, number));
    const std::string text = what + "\nrepeat    bazelw run //fuzz:campaign -- --kind " + kind +
                             " --first " + std::to_string(number) + " --programs 1\n\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

void try_number(const Options &options, Board *board, Worker *worker, uint64_t number) {
    const ProgramKind kind = kind_of_number(options, number);
    worker->number = number;
    worker->since_ms = now_ms();
    const Trial trial = try_program(kind, Dice(number), kSchedules);
    worker->tried[kind]++;
    if (trial.problem.empty()) return;
    std::string what = "FAILED\n" + trial.text + "\n" + trial.problem;
    const std::string shorter = shorten(
        trial.text, [](const std::string &text) { return !problem_of_runs(text, 1).empty(); });
    if (shorter != trial.text) what += "\n\nshorter:\n" + shorter;
    tell(options, number, what);
    board->failures++;
}

[[noreturn]] void work(const Options &options, Board *board, unsigned index, int64_t end_ms) {
    while (now_ms() < end_ms && board->failures < options.failures) {
        const uint64_t done = board->next++;
        if (done >= options.programs) break;
        try_number(options, board, &board->workers[index], options.first + done);
    }
    std::_Exit(0);
}

// --- All of them ---

pid_t start_worker(const Options &options, Board *board, unsigned index, int64_t end_ms) {
    board->workers[index].since_ms = INT64_MAX;
    std::fflush(stdout);
    const pid_t process = fork();
    if (process == 0) work(options, board, index, end_ms);
    if (process < 0) std::perror("fork");
    return process;
}

// Waits a second at most for a worker to end.
void wait_a_while() {
    sigset_t ends;
    const timespec second = {1, 0};
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    sigtimedwait(&ends, nullptr, &second);
}

// A worker that has ended by itself is gone; one that died, or hangs, has found something.
pid_t watch(const Options &options, Board *board, unsigned index, pid_t process, int64_t end_ms) {
    Worker *worker = &board->workers[index];
    int status = 0;
    const bool hangs = now_ms() - worker->since_ms.load() > kHangSeconds * INT64_C(1000);
    if (hangs) kill(process, SIGKILL);
    if (waitpid(process, &status, hangs ? 0 : WNOHANG) != process) return process;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return -1;
    board->failures++;
    tell(options, worker->number, hangs ? "FAILED: it hangs" : "FAILED: it crashes");
    return board->failures < options.failures ? start_worker(options, board, index, end_ms) : -1;
}

void run_all(const Options &options, Board *board) {
    const int64_t end_ms = now_ms() + options.minutes * 60000;
    std::vector<pid_t> processes;
    for (unsigned i = 0; i < options.workers; i++)
        processes.push_back(start_worker(options, board, i, end_ms));
    for (bool any = true; any;) {
        wait_a_while();
        any = false;
        for (unsigned i = 0; i < options.workers; i++) {
            if (processes[i] > 0) processes[i] = watch(options, board, i, processes[i], end_ms);
            any = any || processes[i] > 0;
        }
    }
}

void tell_sum(const Options &options, const Board *board, int64_t start_ms) {
    uint64_t sums[kProgramKindCount] = {}, sum = 0;
    for (const Worker &worker : board->workers)
        for (int kind = 0; kind < kProgramKindCount; kind++)
            sums[kind] += worker.tried[kind];
    for (int kind = 0; kind < kProgramKindCount; kind++) {
        std::printf("%llu %s, ", static_cast<unsigned long long>(sums[kind]),
                    program_kind_name(static_cast<ProgramKind>(kind)));
        sum += sums[kind];
    }
    std::printf("%llu programs in all in %lld s, %llu failed; go on with --first %llu\n",
                static_cast<unsigned long long>(sum),
                static_cast<long long>((now_ms() - start_ms) / 1000),
                static_cast<unsigned long long>(board->failures.load()),
                static_cast<unsigned long long>(options.first +
                                                std::min(board->next.load(), options.programs)));
}

} // namespace

int main(int argc, char **argv) {
    const Options options = read_options(argc, argv);
    void *memory =
        mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("mmap");
        return 2;
    }
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ends, nullptr);
    Board *board = new (memory) Board();
    const int64_t start_ms = now_ms();
    run_all(options, board);
    tell_sum(options, board, start_ms);
    return board->failures > 0 ? 1 : 0;
}
