#include "fuzz/programs/program_model.h"

namespace tutti_test {

// --- Dice ---

uint64_t Dice::draw(size_t byte_count) {
    if (used_ < bytes_.size()) {
        uint64_t number = 0;
        for (size_t i = 0; i < byte_count && used_ < bytes_.size(); i++)
            number |= static_cast<uint64_t>(bytes_[used_++]) << (8 * i);
        return number;
    }
    state_ += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94D049BB133111EB);
    return bits ^ (bits >> 31);
}

uint64_t Dice::next() {
    return draw(sizeof(uint64_t));
}

int Dice::below(int limit) {
    if (limit <= 0) return 0;
    const size_t byte_count = limit <= 256 ? 1 : sizeof(uint32_t);
    return static_cast<int>(draw(byte_count) % static_cast<uint64_t>(limit));
}

int Dice::between(int least, int most) {
    return least + below(most - least + 1);
}

bool Dice::chance(int percent) {
    return below(100) < percent;
}

// --- Statements as text ---

Statement other_statement(const std::string &text) {
    Statement statement;
    statement.text = text;
    return statement;
}

static std::string slice_text(const Program &program, const Slice &slice) {
    const BufferShape &buffer = program.buffers[static_cast<size_t>(slice.buffer)];
    if (slice.first == 0 && slice.count == buffer.count) return buffer.name;
    if (slice.count == 1) return buffer.name + "[" + std::to_string(slice.first) + "]";
    return buffer.name + "[" + std::to_string(slice.first) + ":" +
           std::to_string(slice.first + slice.count) + "]";
}

static std::string where_text(const Program &program, const Statement &statement) {
    std::string text;
    if (statement.group != 0)
        text += " in " + program.groups[static_cast<size_t>(statement.group)].name;
    if (!statement.stream.empty() && statement.stream != "comm") text += " on " + statement.stream;
    return text;
}

static std::string communication_text(const Program &program, const Statement &statement) {
    if (statement.kind == Statement::kSend)
        return "send " + slice_text(program, statement.source) + " to " +
               std::to_string(statement.peer) + where_text(program, statement);
    if (statement.kind == Statement::kRecv)
        return "recv " + slice_text(program, statement.destination) + " from " +
               std::to_string(statement.peer) + where_text(program, statement);
    std::string text = "all_reduce " + slice_text(program, statement.source);
    if (!statement.in_place) text += " -> " + slice_text(program, statement.destination);
    return text + " " + tutti_reduce_op_name(statement.op) + where_text(program, statement);
}

std::string text_of(const Program &program, const Statement &statement, int depth) {
    const std::string indent(static_cast<size_t>(2 * depth), ' ');
    if (statement.communicates()) return indent + communication_text(program, statement) + "\n";
    if (statement.kind == Statement::kOther) return indent + statement.text + "\n";
    const bool repeats = statement.kind == Statement::kRepeat;
    std::string text = indent + (repeats ? "repeat " + std::to_string(statement.rounds) : "start");
    text += "\n";
    for (const Statement &inner : statement.body)
        text += text_of(program, inner, depth + 1);
    return text + indent + "end\n";
}

// --- The whole script ---

static std::string ranks_text(const std::vector<int> &ranks, int rank_count) {
    if (static_cast<int>(ranks.size()) == rank_count) return "*";
    std::string text;
    for (size_t i = 0; i < ranks.size();) {
        size_t last = i;
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
            last++;
        if (!text.empty()) text += " ";
        text += std::to_string(ranks[i]);
        if (last > i) text += "-" + std::to_string(ranks[last]);
        i = last + 1;
    }
    return text;
}

static std::string buffer_text(const BufferShape &buffer, const std::string &fill) {
    std::string text = "buffer " + buffer.name + " " + tutti_element_type_name(buffer.type) + " " +
                       std::to_string(buffer.count);
    return text + (fill.empty() ? "" : " = " + fill) + "\n";
}

static std::string head_text(const Program &program) {
    std::string text = "ranks " + std::to_string(program.rank_count) + "\n";
    for (size_t i = 0; i < program.buffers.size(); i++)
        if (program.fills[i].size() == 1)
            text += buffer_text(program.buffers[i], program.fills[i][0]);
    for (size_t i = 1; i < program.groups.size(); i++) {
        text += "group " + program.groups[i].name + " =";
        for (const int member : program.groups[i].members)
            text += " " + std::to_string(member);
        text += "\n";
    }
    for (const std::string &line : program.head)
        text += line + "\n";
    return text;
}

// Buffers whose contents differ from rank to rank are declared by each rank.
static std::string own_buffers_text(const Program &program) {
    std::string text;
    for (int rank = 0; rank < program.rank_count; rank++) {
        std::string lines;
        for (size_t i = 0; i < program.buffers.size(); i++)
            if (program.fills[i].size() > 1)
                lines += "  " + buffer_text(program.buffers[i],
                                            program.fills[i][static_cast<size_t>(rank)]);
        if (!lines.empty()) text += "rank " + std::to_string(rank) + "\n" + lines;
    }
    return text;
}

// What is left of a program while it is laid out.
struct Rest {
    std::vector<std::string> statements;
    size_t at = 0;

    bool begins_like(const Rest &other, size_t count) const {
        if (statements.size() - at < count) return false;
        for (size_t i = 0; i < count; i++)
            if (statements[at + i] != other.statements[other.at + i]) return false;
        return true;
    }
};

// One section: some statements of the lowest rank that has any left, and of all that do the same.
static std::string next_section(std::vector<Rest> &rests, size_t rank, size_t count) {
    std::vector<int> sharing;
    const Rest model = rests[rank];
    for (size_t other = rank; other < rests.size(); other++)
        if (rests[other].begins_like(model, count)) sharing.push_back(static_cast<int>(other));
    std::string text = "rank " + ranks_text(sharing, static_cast<int>(rests.size())) + "\n";
    for (size_t i = 0; i < count; i++)
        text += model.statements[model.at + i];
    for (const int other : sharing)
        rests[static_cast<size_t>(other)].at += count;
    return text;
}

std::string text_of(const Program &program) {
    Dice dice(program.layout);
    const bool whole = dice.chance(30); // each rank's program in one piece
    std::vector<Rest> rests(program.ranks.size());
    for (size_t rank = 0; rank < rests.size(); rank++)
        for (const Statement &statement : program.ranks[rank])
            rests[rank].statements.push_back(text_of(program, statement, 1));
    std::string text = head_text(program) + own_buffers_text(program);
    for (size_t rank = 0; rank < rests.size();) {
        const size_t left = rests[rank].statements.size() - rests[rank].at;
        const size_t some = static_cast<size_t>(dice.between(1, 6));
        if (left == 0)
            rank++;
        else
            text += next_section(rests, rank, whole || some > left ? left : some);
    }
    return text;
}

} // namespace tutti_test
