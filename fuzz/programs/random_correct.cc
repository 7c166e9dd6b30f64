// Programs that are right by construction: see random_program.h for why.

#include <algorithm>
#include <optional>
#include <set>

#include "fuzz/programs/program_values.h"
#include "fuzz/programs/random_program.h"
#include "tests/harness/oracle.h"

namespace tutti_test {

namespace {

const std::vector<std::string> stream_names = {"comm", "compute", "s1", "s2"};
enum { kHost = -1 }; // what last touched a buffer is over, and the host knows

// A buffer as one rank has it.
struct Held {
    Bytes bytes;
    bool defined = true;
    bool freed = false;
    int stream = kHost; // on which something touched it that the host has not waited for
};

// A rank's part of a step: one statement, and where it runs.
struct Part {
    int rank = 0;
    int stream = 0;
    Statement statement;
};

// What a step does to data.
struct Action {
    bool reduces = false;
    tutti_element_type type = TUTTI_F32;
    tutti_reduce_op op = TUTTI_SUM;
    std::vector<int> ranks; // reduces: members in order; else source and destination
    std::vector<Slice> sources, destinations;
};

struct Step {
    std::vector<Part> parts;
    Action action;
    int group = 0;
    bool to_self = false; // both parts are one rank's, which has to put them into a group call
};

struct GroupState {
    bool joined = false;
    bool over = false; // some rank has left
};

enum Use { kUnused, kRead, kWritten };

class Builder {
  public:
    Builder(const Dice &dice, const CorrectOptions &options) : dice_(dice), options_(options) {}

    Program build();

  private:
    using Statements = std::vector<Statement>;

    void add_head();
    void add_groups();
    void add_buffers();
    void fill_buffer(size_t buffer);
    void add_faults();
    std::string delay_rule();

    void add_round();
    void add_repeat();
    void add_joins(const std::set<int> &groups);
    void add_host_statements(int rank);
    void add_kernel(int rank);
    void add_event(int rank);
    void add_expect(int rank);
    void add_end_of_group();
    void add_free(int rank);
    void finish();

    std::vector<Step> make_steps(int count);
    std::optional<Step> make_all_reduce();
    std::optional<Step> make_transfer();
    std::optional<int> usable_group();
    std::optional<Slice> find_slice(int rank, tutti_element_type type, int count, bool writes);
    std::optional<Slice> find_room(int rank, size_t bytes);
    Part part(int rank, const Statement &statement);

    void emit(const std::vector<Step> &steps);
    void emit_rank(int rank, const std::vector<Step> &steps);
    void emit_run(int rank, std::vector<Part> run, bool grouped);
    void order_parts(std::vector<Part> &run);
    void prepare(int rank, int buffer, int stream);
    void apply(const Action &action);

    void put(int rank, const std::string &text) {
        out(rank).push_back(other_statement(text));
    }
    Statements &out(int rank) {
        return outputs_[static_cast<size_t>(rank)];
    }
    Held &held(int rank, int buffer) {
        return held_[static_cast<size_t>(rank)][static_cast<size_t>(buffer)];
    }
    Use &use(int rank, int buffer) {
        return uses_[static_cast<size_t>(rank)][static_cast<size_t>(buffer)];
    }
    const BufferShape &shape(int buffer) const {
        return program_.buffers[static_cast<size_t>(buffer)];
    }
    const GroupShape &group(int index) const {
        return program_.groups[static_cast<size_t>(index)];
    }
    void sync_all(int rank);

    Dice dice_;
    CorrectOptions options_;
    Program program_;
    int stream_count_ = 1;
    std::vector<Statements> outputs_;
    std::vector<std::vector<Held>> held_;
    std::vector<std::vector<Use>> uses_; // in the round that is being made
    std::vector<GroupState> groups_;
    std::vector<Action> actions_; // of the repeat that is being made
    bool repeating_ = false;
    int step_count_ = 0;
    int event_count_ = 0;
};

// --- The head ---

void Builder::add_head() {
    program_.rank_count = dice_.between(options_.rank_count_min, 8);
    stream_count_ = dice_.between(1, options_.stream_count_max);
    // A device that has room for a collective of each stream cannot be filled by late ones.
    if (dice_.chance(40))
        program_.head.push_back("capacity " + std::to_string(dice_.between(stream_count_, 4)));
    if (dice_.chance(30)) program_.head.push_back("first-use blocks");
    if (dice_.chance(20)) program_.head.push_back("timeout 50h");
    const size_t ranks = static_cast<size_t>(program_.rank_count);
    outputs_.resize(ranks);
    held_.resize(ranks);
    program_.layout = dice_.next();
}

void Builder::add_groups() {
    std::vector<int> world;
    for (int rank = 0; rank < program_.rank_count; rank++)
        world.push_back(rank);
    program_.groups.push_back({"world", world});
    for (int i = dice_.below(4); i > 0; i--) {
        std::vector<int> members = world;
        dice_.shuffle(members);
        members.resize(static_cast<size_t>(dice_.between(1, program_.rank_count)));
        program_.groups.push_back({"g" + std::to_string(i), members});
    }
    groups_.resize(program_.groups.size());
}

// The contents of a buffer: a word for all ranks, or numbers that differ.
void Builder::fill_buffer(size_t buffer) {
    const BufferShape &of = program_.buffers[buffer];
    const int kind = dice_.below(6);
    std::vector<std::string> &fills = program_.fills[buffer];
    if (kind < 4)
        fills.push_back(
            std::vector<std::string>{"", "rank", "iota", "unset"}[static_cast<size_t>(kind)]);
    for (int rank = 0; rank < program_.rank_count; rank++) {
        Held mine;
        const bool alike = kind == 4; // one value for all elements
        std::string text;
        int64_t halves = 0;
        mine.defined = kind != 3;
        for (int i = 0; i < of.count; i++) {
            if (kind < 3) halves = kind == 0 ? 0 : 2 * (kind == 1 ? rank : i);
            if (kind >= 4 && (i == 0 || !alike)) {
                halves = dice_.between(is_signed(of.type) ? -9 : 0, 9);
                if (!is_float(of.type)) halves *= 2;
                text += (text.empty() ? "" : " ") + halves_text(halves);
            }
            append_halves(of.type, halves, mine.bytes);
        }
        if (kind >= 4) fills.push_back(text);
        held_[static_cast<size_t>(rank)].push_back(mine);
    }
}

void Builder::add_buffers() {
    static const std::vector<int> counts = {0, 1, 1, 2, 3, 4, 5, 8, 8, 17, 33, 600};
    std::vector<tutti_element_type> types;
    for (int i = dice_.between(1, 3); i > 0; i--)
        types.push_back(static_cast<tutti_element_type>(dice_.below(TUTTI_CARRIED_TYPE_COUNT)));
    for (int i = 0, count = dice_.between(2, 8); i < count; i++) {
        program_.buffers.push_back(
            {"b" + std::to_string(i), dice_.pick(types), dice_.pick(counts)});
        program_.fills.emplace_back();
        fill_buffer(program_.buffers.size() - 1);
    }
}

// --- Delays, which change nothing ---

std::string Builder::delay_rule() {
    static const std::vector<std::string> points = {
        "mint", "join", "data_type", "enqueue", "all_reduce", "send",  "recv",  "leave",
        "sync", "poll", "record",    "wait",    "kernel",     "group", "abort", "copy"};
    std::string rule = "fault " + dice_.pick(points);
    if (dice_.chance(60)) rule += "[rank=" + std::to_string(dice_.below(program_.rank_count)) + "]";
    rule += "=";
    if (dice_.chance(40)) rule += std::to_string(dice_.between(1, 4)) + "*off->";
    if (dice_.chance(40)) rule += "50%";
    return rule + "delay(" + std::to_string(dice_.between(1, 3000)) + "us)";
}

void Builder::add_faults() {
    if (!options_.faults) return;
    for (int i = dice_.below(4) - 1; i > 0; i--)
        program_.head.push_back(delay_rule());
}

// --- Choosing what a step works on ---

std::optional<int> Builder::usable_group() {
    std::vector<int> usable;
    for (size_t i = 0; i < groups_.size(); i++)
        if (!groups_[i].over) usable.push_back(static_cast<int>(i));
    if (usable.empty()) return std::nullopt;
    return dice_.pick(usable);
}

// A part of a buffer that nothing else in this round is in the way of.
std::optional<Slice> Builder::find_slice(int rank, tutti_element_type type, int count,
                                         bool writes) {
    std::vector<Slice> found;
    for (int i = 0; i < static_cast<int>(program_.buffers.size()); i++) {
        const Held &at = held(rank, i);
        const bool whole = shape(i).count == count;
        const bool fits = shape(i).type == type && shape(i).count >= count && !at.freed;
        const bool free = writes ? use(rank, i) == kUnused : use(rank, i) != kWritten;
        // What was never written becomes so by writing all of it.
        if (!fits || !free || !(at.defined || (writes && whole) || count == 0)) continue;
        found.push_back({i, dice_.below(shape(i).count - count + 1), count});
    }
    if (found.empty()) return std::nullopt;
    return dice_.pick(found);
}

std::optional<Slice> Builder::find_room(int rank, size_t bytes) {
    std::vector<Slice> found;
    for (const BufferShape &buffer : program_.buffers) {
        const size_t width = oracle_element_bytes(buffer.type);
        if (bytes % width != 0) continue;
        const auto slice = find_slice(rank, buffer.type, static_cast<int>(bytes / width), true);
        if (slice) found.push_back(*slice);
    }
    if (found.empty()) return std::nullopt;
    return dice_.pick(found);
}

Part Builder::part(int rank, const Statement &statement) {
    Part made = {rank, dice_.below(stream_count_), statement};
    made.statement.stream = stream_names[static_cast<size_t>(made.stream)];
    made.statement.step = step_count_;
    return made;
}

std::optional<Step> Builder::make_all_reduce() {
    const auto chosen = usable_group();
    if (!chosen) return std::nullopt;
    const BufferShape &model = dice_.pick(program_.buffers);
    const int count = dice_.chance(50) ? model.count : dice_.below(model.count + 1);
    Step step;
    step.group = *chosen;
    step.action.reduces = true;
    step.action.type = model.type;
    step.action.op = static_cast<tutti_reduce_op>(dice_.below(TUTTI_REDUCE_OP_COUNT));
    for (const int rank : group(*chosen).members) {
        Statement statement;
        statement.kind = Statement::kAllReduce;
        statement.group = *chosen;
        statement.op = step.action.op;
        statement.in_place = dice_.chance(50);
        const auto source = find_slice(rank, model.type, count, statement.in_place);
        if (!source || !(held(rank, source->buffer).defined || count == 0)) return std::nullopt;
        statement.source = statement.destination = *source;
        use(rank, source->buffer) = statement.in_place ? kWritten : kRead;
        if (!statement.in_place) {
            const auto destination = find_slice(rank, model.type, count, true);
            if (!destination) return std::nullopt;
            statement.destination = *destination;
            use(rank, destination->buffer) = kWritten;
        }
        step.action.ranks.push_back(rank);
        step.action.sources.push_back(statement.source);
        step.action.destinations.push_back(statement.destination);
        step.parts.push_back(part(rank, statement));
    }
    return step;
}

std::optional<Step> Builder::make_transfer() {
    const auto chosen = usable_group();
    if (!chosen) return std::nullopt;
    const std::vector<int> &members = group(*chosen).members;
    const int from = dice_.below(static_cast<int>(members.size()));
    const int to = dice_.below(static_cast<int>(members.size()));
    const int source_rank = members[static_cast<size_t>(from)];
    const int destination_rank = members[static_cast<size_t>(to)];
    const BufferShape &model = dice_.pick(program_.buffers);
    const int count = dice_.chance(50) ? model.count : dice_.below(model.count + 1);
    const auto source = find_slice(source_rank, model.type, count, false);
    if (!source) return std::nullopt;
    use(source_rank, source->buffer) = kRead;
    const size_t bytes = oracle_element_bytes(model.type) * static_cast<size_t>(count);
    const auto room = dice_.chance(80) ? find_slice(destination_rank, model.type, count, true)
                                       : find_room(destination_rank, bytes);
    if (!room) return std::nullopt;
    use(destination_rank, room->buffer) = kWritten;
    Step step;
    step.group = *chosen;
    step.to_self = from == to;
    step.action.ranks = {source_rank, destination_rank};
    step.action.sources = {*source};
    step.action.destinations = {*room};
    Statement send, recv;
    send.kind = Statement::kSend;
    recv.kind = Statement::kRecv;
    send.group = recv.group = *chosen;
    send.source = *source;
    recv.destination = *room;
    send.peer = to;
    recv.peer = from;
    step.parts = {part(source_rank, send), part(destination_rank, recv)};
    return step;
}

std::vector<Step> Builder::make_steps(int count) {
    std::vector<Step> steps;
    uses_.assign(outputs_.size(), std::vector<Use>(program_.buffers.size(), kUnused));
    for (int i = 0; i < count; i++) {
        const auto step = dice_.chance(50) ? make_all_reduce() : make_transfer();
        if (step) steps.push_back(*step);
        if (step) step_count_++;
    }
    return steps;
}

// --- Steps as statements ---

// Lets the next operation on a stream wait for whatever touched the buffer before.
void Builder::prepare(int rank, int buffer, int stream) {
    const int before = held(rank, buffer).stream;
    if (before == kHost || before == stream) return;
    const std::string &from = stream_names[static_cast<size_t>(before)];
    const std::string &to = stream_names[static_cast<size_t>(stream)];
    if (dice_.chance(50)) {
        const std::string event = "e" + std::to_string(event_count_++ % 10);
        put(rank, "record " + event + " on " + from);
        put(rank, "wait " + event + " on " + to);
        return;
    }
    put(rank, "sync " + from);
    for (size_t i = 0; i < program_.buffers.size(); i++)
        if (held(rank, static_cast<int>(i)).stream == before)
            held(rank, static_cast<int>(i)).stream = kHost;
}

// In a group call parts may be named in any order, but for those that meet in the order of calls.
void Builder::order_parts(std::vector<Part> &run) {
    const auto bound = [](const Statement &a, const Statement &b) {
        return a.kind == b.kind && a.group == b.group &&
               (a.kind == Statement::kAllReduce || a.peer == b.peer);
    };
    for (int swaps = dice_.below(8); swaps > 0; swaps--) {
        const size_t at = static_cast<size_t>(dice_.below(static_cast<int>(run.size()) - 1));
        if (run.size() > 1 && !bound(run[at].statement, run[at + 1].statement))
            std::swap(run[at], run[at + 1]);
    }
}

void Builder::emit_run(int rank, std::vector<Part> run, bool grouped) {
    for (const Part &made : run) {
        const Statement &statement = made.statement;
        if (statement.kind != Statement::kRecv) prepare(rank, statement.source.buffer, made.stream);
        if (statement.kind != Statement::kSend)
            prepare(rank, statement.destination.buffer, made.stream);
    }
    for (const Part &made : run) {
        const Statement &statement = made.statement;
        if (statement.kind == Statement::kAllReduce && statement.source.count == 0)
            continue; // it is dropped, and no part of the group call
        if (statement.kind != Statement::kRecv)
            held(rank, statement.source.buffer).stream = made.stream;
        if (statement.kind != Statement::kSend)
            held(rank, statement.destination.buffer).stream = made.stream;
    }
    if (!grouped) {
        out(rank).push_back(run[0].statement);
        return;
    }
    Statement call;
    call.kind = Statement::kGroupCall;
    order_parts(run);
    for (const Part &made : run)
        call.body.push_back(made.statement);
    out(rank).push_back(call);
}

// A rank cuts its parts of a round into runs, each a group call or a single call.
void Builder::emit_rank(int rank, const std::vector<Step> &steps) {
    std::vector<Part> run;
    bool to_self = false;
    const int grouping = dice_.below(100);
    for (const Step &step : steps) {
        const size_t before = run.size();
        for (const Part &made : step.parts)
            if (made.rank == rank) run.push_back(made);
        if (run.size() == before) continue;
        to_self = to_self || step.to_self;
        const bool grouped = to_self || dice_.chance(grouping);
        if (grouped && dice_.chance(70)) continue; // the run goes on
        if (!grouped && run.size() == 1) {
            emit_run(rank, run, false);
        } else {
            emit_run(rank, run, true);
        }
        run.clear();
        to_self = false;
    }
    if (!run.empty()) emit_run(rank, run, true);
}

void Builder::apply(const Action &action) {
    const size_t width = oracle_element_bytes(action.type);
    const auto range = [&](int rank, const Slice &slice) {
        const size_t element = oracle_element_bytes(shape(slice.buffer).type);
        uint8_t *begin =
            held(rank, slice.buffer).bytes.data() + static_cast<size_t>(slice.first) * element;
        return std::make_pair(begin, static_cast<size_t>(slice.count) * element);
    };
    std::vector<Bytes> inputs;
    for (size_t i = 0; i < action.sources.size(); i++) {
        const auto [begin, bytes] = range(action.ranks[i], action.sources[i]);
        inputs.emplace_back(begin, begin + bytes);
    }
    Bytes result = inputs[0];
    if (action.reduces && inputs[0].size() >= width)
        result = oracle_reduce(action.type, action.op, inputs);
    for (size_t i = 0; i < action.destinations.size(); i++) {
        const Slice &slice = action.destinations[i];
        const int rank = action.reduces ? action.ranks[i] : action.ranks[1];
        const auto [begin, bytes] = range(rank, slice);
        std::copy(result.begin(), result.begin() + static_cast<long>(bytes), begin);
        if (slice.count == shape(slice.buffer).count) held(rank, slice.buffer).defined = true;
    }
}

void Builder::add_joins(const std::set<int> &groups) {
    for (const int index : groups) {
        if (groups_[static_cast<size_t>(index)].joined) continue;
        groups_[static_cast<size_t>(index)].joined = true;
        const std::string &name = group(index).name;
        for (const int rank : group(index).members) {
            const bool waits = dice_.chance(70);
            put(rank, "join " + name + (waits ? "" : " nonblocking"));
            if (waits) continue;
            if (dice_.chance(30)) put(rank, "poll " + name);
            put(rank, "sync " + name);
        }
    }
}

void Builder::emit(const std::vector<Step> &steps) {
    std::set<int> groups;
    for (const Step &step : steps)
        groups.insert(step.group);
    // The first use joins, if all members use it, and none has to join another group before.
    const bool lazily =
        steps.size() == 1 && steps[0].action.reduces && !repeating_ && dice_.chance(50);
    if (lazily)
        groups_[static_cast<size_t>(steps[0].group)].joined = true;
    else
        add_joins(groups);
    for (int rank = 0; rank < program_.rank_count; rank++)
        emit_rank(rank, steps);
    for (const Step &step : steps) {
        if (repeating_) actions_.push_back(step.action);
        apply(step.action);
    }
}

void Builder::add_round() {
    emit(make_steps(dice_.chance(40) ? 1 : dice_.between(2, 6)));
}

// --- What a rank does by itself ---

void Builder::sync_all(int rank) {
    put(rank, "sync");
    for (Held &at : held_[static_cast<size_t>(rank)])
        at.stream = kHost;
}

void Builder::add_kernel(int rank) {
    const int buffer = dice_.below(static_cast<int>(program_.buffers.size()));
    const int stream = dice_.below(stream_count_);
    if (held(rank, buffer).freed) return;
    prepare(rank, buffer, stream);
    held(rank, buffer).stream = stream;
    const bool reads = dice_.chance(50) && held(rank, buffer).defined;
    put(rank, std::string("kernel ") + (reads ? "reads " : "writes ") + shape(buffer).name +
                  " on " + stream_names[static_cast<size_t>(stream)] + " for " +
                  std::to_string(dice_.below(900)) + "us");
}

void Builder::add_event(int rank) {
    const std::string event = " e" + std::to_string(event_count_++ % 10);
    const std::string stream = stream_names[static_cast<size_t>(dice_.below(stream_count_))];
    put(rank, "record" + event + " on " + stream);
    switch (dice_.below(3)) {
    case 0:
        put(rank, "wait" + event + " on " +
                      stream_names[static_cast<size_t>(dice_.below(stream_count_))]);
        break;
    case 1:
        put(rank, "sync" + event);
        break;
    default:
        put(rank, "poll" + event);
    }
}

void Builder::add_expect(int rank) {
    const int buffer = dice_.below(static_cast<int>(program_.buffers.size()));
    const Held &at = held(rank, buffer);
    const BufferShape &of = shape(buffer);
    if (!options_.expects || repeating_ || at.freed || !at.defined || of.count == 0) return;
    if (at.stream != kHost && dice_.chance(50)) sync_all(rank);
    if (at.stream != kHost) {
        put(rank, "sync " + stream_names[static_cast<size_t>(at.stream)]);
        held(rank, buffer).stream = kHost;
    }
    const int count = std::min(of.count, dice_.chance(50) ? 40 : dice_.between(1, 40));
    const int first = dice_.below(of.count - count + 1);
    const size_t width = oracle_element_bytes(of.type);
    std::string text = "expect " + of.name;
    if (count < of.count)
        text += "[" + std::to_string(first) + ":" + std::to_string(first + count) + "]";
    put(rank, text + " = " +
                  values_text(of.type, at.bytes.data() + static_cast<size_t>(first) * width,
                              static_cast<size_t>(count)));
}

void Builder::add_free(int rank) {
    const int buffer = dice_.below(static_cast<int>(program_.buffers.size()));
    if (repeating_ || !options_.ends || held(rank, buffer).freed) return;
    sync_all(rank);
    held(rank, buffer).freed = true;
    put(rank, "free " + shape(buffer).name);
}

void Builder::add_host_statements(int rank) {
    for (int i = dice_.below(3); i > 0; i--) {
        switch (dice_.below(8)) {
        case 0:
            put(rank, "sleep " + std::to_string(dice_.below(5000)) + "us");
            break;
        case 1:
            add_kernel(rank);
            break;
        case 2:
            add_event(rank);
            break;
        case 3:
            put(rank, "poll " + stream_names[static_cast<size_t>(dice_.below(stream_count_))]);
            break;
        case 4:
            sync_all(rank);
            break;
        case 5:
            if (dice_.chance(20)) add_free(rank);
            break;
        default:
            add_expect(rank);
        }
    }
}

// --- Repeats, and what comes last ---

// Rounds that are run several times. Each begins and ends with nothing in flight, so that it does
// not matter what comes before it.
void Builder::add_repeat() {
    std::set<int> groups;
    std::vector<Statements> bodies(outputs_.size());
    const int rounds = dice_.between(0, 4);
    for (size_t i = 0; i < groups_.size(); i++)
        if (!groups_[i].over) groups.insert(static_cast<int>(i));
    add_joins(groups);
    for (int rank = 0; rank < program_.rank_count; rank++)
        sync_all(rank);
    const auto before = held_;
    repeating_ = true;
    actions_.clear();
    outputs_.swap(bodies);
    for (int i = dice_.between(1, 3); i > 0; i--) {
        add_round();
        for (int rank = 0; rank < program_.rank_count; rank++)
            add_host_statements(rank);
    }
    for (int rank = 0; rank < program_.rank_count; rank++)
        sync_all(rank);
    outputs_.swap(bodies);
    repeating_ = false;
    held_ = before;
    for (int round = 0; round < rounds; round++)
        for (const Action &action : actions_)
            apply(action);
    for (int rank = 0; rank < program_.rank_count; rank++) {
        Statement repeat;
        repeat.kind = Statement::kRepeat;
        repeat.rounds = rounds;
        repeat.body = bodies[static_cast<size_t>(rank)];
        if (dice_.chance(70)) {
            out(rank).push_back(repeat);
            continue;
        }
        for (int round = 0; round < rounds; round++)
            out(rank).insert(out(rank).end(), repeat.body.begin(), repeat.body.end());
    }
}

void Builder::add_end_of_group() {
    const auto chosen = usable_group();
    if (!options_.ends || !chosen || !groups_[static_cast<size_t>(*chosen)].joined) return;
    groups_[static_cast<size_t>(*chosen)].over = true;
    for (const int rank : group(*chosen).members) {
        if (dice_.chance(20)) continue;
        const bool aborts = dice_.chance(30);
        if (aborts) sync_all(rank); // what is in flight would be lost
        put(rank, (aborts ? "abort " : "leave ") + group(*chosen).name);
    }
}

void Builder::finish() {
    for (int rank = 0; rank < program_.rank_count; rank++) {
        if (dice_.chance(80) || options_.final_syncs) sync_all(rank);
        for (int i = dice_.below(4); i > 0; i--)
            add_expect(rank);
        if (dice_.chance(20)) put(rank, "exit");
    }
}

Program Builder::build() {
    add_head();
    add_groups();
    add_buffers();
    add_faults();
    for (int i = dice_.between(1, 8); i > 0; i--) {
        if (dice_.chance(15))
            add_repeat();
        else
            add_round();
        for (int rank = 0; rank < program_.rank_count; rank++)
            add_host_statements(rank);
        if (dice_.chance(10)) add_end_of_group();
    }
    finish();
    program_.ranks = outputs_;
    return program_;
}

} // namespace

Program correct_model(const Dice &dice, const CorrectOptions &options) {
    return Builder(dice, options).build();
}

RandomProgram correct_program(const Dice &dice) {
    return {text_of(correct_model(dice, CorrectOptions()))};
}

} // namespace tutti_test
