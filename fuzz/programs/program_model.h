#ifndef TUTTI_FUZZ_PROGRAMS_PROGRAM_MODEL_H
#define TUTTI_FUZZ_PROGRAMS_PROGRAM_MODEL_H

// What random programs are made of: dice that always fall the same way, statements that can be
// taken apart and changed, and the text of a script.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tutti/types.h"

namespace tutti_test {

// A stream of random numbers that depends on its seed alone, on every machine (SplitMix64); or, as
// long as they last, on given bytes, so that a fuzzer that changes a byte changes one throw.
class Dice {
  public:
    explicit Dice(uint64_t seed) : state_(seed) {}
    // Bytes first, then what the seed gives.
    Dice(std::vector<uint8_t> bytes, uint64_t seed) : state_(seed), bytes_(std::move(bytes)) {}

    uint64_t next();
    // 0 to limit - 1; 0 when limit is 0.
    int below(int limit);
    // least to most, both included.
    int between(int least, int most);
    bool chance(int percent);

    template <typename T> const T &pick(const std::vector<T> &values) {
        return values[static_cast<size_t>(below(static_cast<int>(values.size())))];
    }
    template <typename T> void shuffle(std::vector<T> &values) {
        for (size_t i = values.size(); i > 1; i--)
            std::swap(values[i - 1], values[static_cast<size_t>(below(static_cast<int>(i)))]);
    }

  private:
    // A number of up to 8 bytes; the generator's when no byte is left.
    uint64_t draw(size_t byte_count);

    uint64_t state_;
    std::vector<uint8_t> bytes_;
    size_t used_ = 0; // of the bytes
};

// A buffer that ranks have under this name, all of the same shape.
struct BufferShape {
    std::string name;
    tutti_element_type type = TUTTI_F32;
    int count = 0; // elements
};

// Elements first to first + count - 1 of a buffer.
struct Slice {
    int buffer = 0; // index in Program::buffers
    int first = 0;
    int count = 0;
};

struct Statement {
    enum Kind {
        kAllReduce,
        kSend,
        kRecv,
        kGroupCall, // start, body, end
        kRepeat,    // repeat rounds, body, end
        kOther,     // text
    };
    Kind kind = kOther;
    int group = 0; // index in Program::groups
    Slice source;  // all_reduce, send
    Slice destination;
    bool in_place = false; // all_reduce: destination is the source
    tutti_reduce_op op = TUTTI_SUM;
    int peer = 0;       // a rank of the group
    std::string stream; // name
    int step = -1;      // of communication: equal for all ranks that take part in it
    int rounds = 0;
    std::vector<Statement> body;
    std::string text;

    bool communicates() const {
        return kind == kAllReduce || kind == kSend || kind == kRecv;
    }
};

Statement other_statement(const std::string &text);

struct GroupShape {
    std::string name;
    std::vector<int> members; // ranks of the program, in the group's order
};

struct Program {
    int rank_count = 1;
    std::vector<std::string> head;               // lines behind `ranks`, but for buffers and groups
    std::vector<BufferShape> buffers;            // all ranks have them
    std::vector<std::vector<std::string>> fills; // by buffer: one for all ranks, or one for each
    std::vector<GroupShape> groups;              // 0 is world
    std::vector<std::vector<Statement>> ranks;   // what each rank does
    uint64_t layout = 0;                         // how statements are laid out in sections
};

// The script. The same program always gives the same text.
std::string text_of(const Program &program);

// One statement as its lines.
std::string text_of(const Program &program, const Statement &statement, int depth);

} // namespace tutti_test

#endif
