#include <jansson.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/trace/grammar.h"

namespace {

using Track = std::pair<json_int_t, json_int_t>;

struct Slice {
    int64_t from, to; // in nanoseconds
};

int64_t nanoseconds(const json_t *event, const char *key) {
    return std::llround(json_number_value(json_object_get(event, key)) * 1000.0);
}

std::string text_of_key(const json_t *event, const char *key) {
    const json_t *value = json_object_get(event, key);
    if (json_is_integer(value)) return std::to_string(json_integer_value(value));
    return json_is_string(value) ? json_string_value(value) : "";
}

class Chrome {
  public:
    std::string problem(const json_t *root) {
        const json_t *events = json_object_get(root, "traceEvents");
        if (!json_is_array(events)) return "there is no list of events";
        for (size_t i = 0; i < json_array_size(events); i++)
            take(json_array_get(events, i));
        check_slices();
        check_overlaps();
        check_flows();
        check_names();
        return problem_;
    }

  private:
    void fail(const std::string &what) {
        if (problem_.empty()) problem_ = what;
    }
    void take(const json_t *event) {
        const std::string phase = text_of_key(event, "ph");
        const Track track = {json_integer_value(json_object_get(event, "pid")),
                             json_integer_value(json_object_get(event, "tid"))};
        const int64_t ts = nanoseconds(event, "ts");
        if (text_of_key(event, "name").empty()) fail("an event has no name");
        if (phase == "M") {
            if (text_of_key(event, "name") == "thread_name") named_.insert(track);
            return;
        }
        used_.insert(track);
        if (!json_is_number(json_object_get(event, "ts"))) fail("an event has no time");
        if (phase == "X")
            slices_[track].push_back({ts, ts + nanoseconds(event, "dur")});
        else if (phase == "b" || phase == "e")
            overlaps_[text_of_key(event, "cat") + text_of_key(event, "id")].push_back({phase, ts});
        else if (phase == "s" || phase == "t" || phase == "f")
            flows_[text_of_key(event, "id")].push_back({phase, track, ts});
        else if (phase != "i")
            fail("an event of an unknown kind, " + phase);
    }
    void check_slices() {
        for (auto &[track, slices] : slices_) {
            std::sort(slices.begin(), slices.end(), [](const Slice &a, const Slice &b) {
                return a.from != b.from ? a.from < b.from : a.to > b.to;
            });
            std::vector<Slice> open;
            for (const Slice &slice : slices) {
                while (!open.empty() && open.back().to <= slice.from)
                    open.pop_back();
                if (slice.to <= slice.from) fail("a complete event takes no time");
                if (!open.empty() && slice.to > open.back().to) fail("complete events overlap");
                open.push_back(slice);
            }
        }
    }
    void check_overlaps() {
        for (const auto &[id, ends] : overlaps_)
            if (ends.size() != 2 || ends[0].first != "b" || ends[1].first != "e" ||
                ends[0].second >= ends[1].second)
                fail("the asynchronous event " + id + " has no two ends in order");
    }
    struct Step {
        std::string phase;
        Track track;
        int64_t ts;
    };
    bool lies_in_a_slice(const Step &step) {
        for (const Slice &slice : slices_[step.track])
            if (slice.from <= step.ts && step.ts < slice.to) return true;
        return false;
    }
    void check_flows() {
        for (const auto &[id, steps] : flows_) {
            if (steps.size() < 2 || steps.front().phase != "s" || steps.back().phase != "f")
                fail("the flow " + id + " has no start and end");
            for (size_t i = 0; i < steps.size(); i++) {
                if (i > 0 && i + 1 < steps.size() && steps[i].phase != "t")
                    fail("the flow " + id + " starts or ends twice");
                if (i > 0 && steps[i].ts <= steps[i - 1].ts) fail("a flow goes back in time");
                if (!lies_in_a_slice(steps[i])) fail("the flow " + id + " leads nowhere");
            }
        }
    }
    void check_names() {
        for (const Track &track : used_)
            if (named_.count(track) == 0) fail("a track has no name");
    }

    std::map<Track, std::vector<Slice>> slices_;
    std::map<std::string, std::vector<std::pair<std::string, int64_t>>> overlaps_;
    std::map<std::string, std::vector<Step>> flows_;
    std::set<Track> named_, used_;
    std::string problem_;
};

} // namespace

std::string chrome_problem(const std::string &text) {
    json_error_t error;
    json_t *root = json_loadb(text.data(), text.size(), JSON_REJECT_DUPLICATES, &error);
    if (root == nullptr) return std::string("no JSON: ") + error.text;
    const std::string problem = Chrome().problem(root);
    json_decref(root);
    return problem;
}
