#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/emu/explore.h"
#include "drivers/emu/state.h"
#include "drivers/emu/walks.h"

/* Making a failing schedule small. A candidate is a list of answers, run leniently: what does not
 * fit is taken as far as it does. When it fails for the same cause, and is smaller, what it really
 * answered takes the place of the best one so far. */

enum {
    RUNS_MAX = 3000,          /* of candidates */
    CRITICAL_RUNS_MAX = 1500, /* to find the choice that decides */
    CONTINUATIONS = 4,        /* ways of going on that are drawn after each other answer */
};

/* Answers one by one. */
typedef struct answer_list {
    emu_choice_run *answers; /* each with count 1 */
    uint32_t count, room;
} answer_list;

typedef struct shrinker {
    const emu_subject *subject;
    const tutti_report *model; /* what it must fail like */
    answer_list best;
    answer_list candidate;
    uint32_t run_count;
    tutti_status status; /* of the last run */
    tutti_error *error;
} shrinker;

/* --- Lists --- */

static bool list_add(answer_list *list, emu_choice_run answer) {
    if (!emu_grow(&list->answers, list->count, &list->room, sizeof answer)) return false;
    list->answers[list->count++] = answer;
    return true;
}

/* A record as a list, without the zeros at its end. */
static bool list_of_record(answer_list *list, const emu_choice_record *record) {
    list->count = 0;
    for (uint32_t i = 0; i < record->run_count; i++) {
        emu_choice_run one = record->runs[i];
        bool is_tail = i + 1 == record->run_count && one.answer == 0;
        for (uint64_t k = 0; k < record->runs[i].count && !is_tail; k++)
            if (!list_add(list, (emu_choice_run){1, one.answer, one.kind})) return false;
    }
    while (list->count > 0 && list->answers[list->count - 1].answer == 0)
        list->count--;
    return true;
}

static bool record_of_list(emu_choice_record *record, const answer_list *list, uint32_t count) {
    *record = (emu_choice_record){0};
    for (uint32_t i = 0; i < count; i++)
        if (!emu_choice_record_append(record, (emu_choice_kind)list->answers[i].kind,
                                      list->answers[i].answer, 1))
            return false;
    return true;
}

static bool list_copy(answer_list *to, const answer_list *from) {
    to->count = 0;
    for (uint32_t i = 0; i < from->count; i++)
        if (!list_add(to, from->answers[i])) return false;
    return true;
}

/* Fewer answers other than 0, then shorter, then lower. */
static bool is_smaller(const answer_list *a, const answer_list *b) {
    uint64_t a_nonzero = 0, b_nonzero = 0, a_sum = 0, b_sum = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        a_nonzero += a->answers[i].answer != 0;
        a_sum += a->answers[i].answer;
    }
    for (uint32_t i = 0; i < b->count; i++) {
        b_nonzero += b->answers[i].answer != 0;
        b_sum += b->answers[i].answer;
    }
    if (a_nonzero != b_nonzero) return a_nonzero < b_nonzero;
    if (a->count != b->count) return a->count < b->count;
    return a_sum < b_sum;
}

/* --- Runs --- */

static bool out_of_memory(shrinker *self) {
    self->status = tutti_error_set(self->error, TUTTI_OUT_OF_MEMORY, "no memory to shrink");
    return false;
}

/* Runs the candidate; true when it is the best so far. */
static bool try_candidate(shrinker *self) {
    emu_choice_record record;
    emu_choices choices;
    tutti_report *report = NULL;
    answer_list made = {0};
    if (self->run_count++ >= RUNS_MAX || self->status != TUTTI_OK) return false;
    if (!record_of_list(&record, &self->candidate, self->candidate.count))
        return out_of_memory(self);
    emu_choices_init_replay(&choices, &record, true);
    const emu_trial trial = {.choices = &choices};
    self->status = self->subject->run(self->subject->context, &trial, &report, self->error);
    bool better = self->status == TUTTI_OK && emu_reports_alike(report, self->model) &&
                  !choices.record.cut && list_of_record(&made, &choices.record) &&
                  is_smaller(&made, &self->best);
    if (better) better = list_copy(&self->best, &made) || out_of_memory(self);
    free(made.answers);
    tutti_report_free(report);
    emu_choices_free(&choices);
    emu_choice_record_free(&record);
    return better;
}

/* --- Changes --- */

typedef enum change { CHANGE_DELETE, CHANGE_ZERO } change;

/* The candidate is the best list with a piece of it changed; false: that changes nothing. */
static bool change_piece(shrinker *self, change how, uint32_t first, uint32_t count) {
    const answer_list *best = &self->best;
    bool changed = how == CHANGE_DELETE;
    self->candidate.count = 0;
    for (uint32_t i = 0; i < best->count; i++) {
        emu_choice_run answer = best->answers[i];
        bool inside = i >= first && i - first < count;
        if (inside && how == CHANGE_DELETE) continue;
        if (inside && answer.answer != 0) {
            answer.answer = 0;
            changed = true;
        }
        if (!list_add(&self->candidate, answer)) return out_of_memory(self);
    }
    return changed;
}

/* Pieces of one size, from the end on. */
static bool change_pieces(shrinker *self, change how, uint32_t piece) {
    bool any = false;
    uint32_t end = self->best.count;
    while (end > 0 && self->status == TUTTI_OK) {
        if (end > self->best.count) end = self->best.count;
        uint32_t first = end > piece ? end - piece : 0;
        if (end > first && change_piece(self, how, first, end - first) && try_candidate(self))
            any = true;
        end = first;
    }
    return any;
}

static bool lower_answers(shrinker *self) {
    bool any = false;
    for (uint32_t i = 0; i < self->best.count && self->status == TUTTI_OK; i++) {
        for (uint32_t lower = 1; i < self->best.count && lower < self->best.answers[i].answer;
             lower *= 2) {
            if (!list_copy(&self->candidate, &self->best)) return out_of_memory(self);
            self->candidate.answers[i].answer = lower;
            if (!try_candidate(self)) continue;
            any = true;
            break;
        }
    }
    return any;
}

static void shrink(shrinker *self) {
    bool any = true;
    while (any && self->status == TUTTI_OK && self->run_count < RUNS_MAX) {
        any = false;
        for (uint32_t piece = self->best.count; piece > 0; piece /= 2) {
            any = change_pieces(self, CHANGE_ZERO, piece) || any;
            any = change_pieces(self, CHANGE_DELETE, piece) || any;
        }
        any = lower_answers(self) || any;
    }
}

/* --- The choice that decides --- */

/* A run that repeats a record, then differs at one place, and then goes on as drawn. */
typedef struct detour {
    const answer_list *list;
    uint64_t place; /* of the question that is answered otherwise */
    uint32_t other; /* answer there; UINT32_MAX: as the list says, only to look */
    uint64_t at;
    uint64_t state;            /* of the generator for what comes after; 0: plain */
    uint32_t answer_count;     /* there */
    uint32_t host, plain_host; /* rank: that the list names there, and that `other` names */
    emu_choice_kind kind;
} detour;

static uint32_t take_detour(void *context, const emu_question *question) {
    detour *self = context;
    if (question->answer_count == 1) return 0;
    uint64_t at = self->at++;
    uint32_t given = at < self->list->count ? self->list->answers[at].answer : 0;
    if (given >= question->answer_count) given = 0;
    if (at < self->place) return given;
    if (at > self->place)
        return self->state == 0 ? 0 : emu_draw_below(&self->state, question->answer_count);
    self->answer_count = question->answer_count;
    self->kind = question->kind;
    uint32_t answer =
        self->other == UINT32_MAX || self->other >= question->answer_count ? given : self->other;
    if (question->kind == EMU_CHOICE_RANK) {
        self->host = emu_question_host(question, given);
        self->plain_host = emu_question_host(question, answer);
    }
    return answer;
}

static bool goes_well(shrinker *self, detour *way) {
    emu_choices choices;
    tutti_report *report = NULL;
    way->at = 0;
    emu_choices_init_strategy(&choices, take_detour, way);
    const emu_trial trial = {.choices = &choices};
    self->run_count++;
    self->status = self->subject->run(self->subject->context, &trial, &report, self->error);
    bool well =
        self->status == TUTTI_OK && self->subject->ends_well(self->subject->context, report);
    tutti_report_free(report);
    emu_choices_free(&choices);
    return well;
}

/* Whether another answer at a place can still end well; which one, and who is named. */
static bool can_turn_back(shrinker *self, uint64_t place, detour *way_out) {
    uint32_t answer_count = 2;
    uint32_t given = place < self->best.count ? self->best.answers[place].answer : 0;
    for (uint32_t other = 0; other < answer_count; other++) {
        if (other == given) continue;
        for (uint64_t draw = 0; draw <= CONTINUATIONS; draw++) {
            detour way = {.list = &self->best, .place = place, .other = other, .state = draw};
            bool well = goes_well(self, &way);
            answer_count = way.answer_count;
            *way_out = way;
            if (well) return true;
            if (self->status != TUTTI_OK || self->run_count >= CRITICAL_RUNS_MAX) return false;
        }
    }
    return false;
}

static char *describe_critical(const shrinker *self, uint64_t place, const detour *way) {
    char text[512];
    unsigned long long number = (unsigned long long)place + 1;
    uint32_t given = place < self->best.count ? self->best.answers[place].answer : 0;
    if (way->kind == EMU_CHOICE_RANK)
        snprintf(text, sizeof(text),
                 "choice %llu: rank %" PRIu32 " goes on; if rank %" PRIu32
                 " did instead, the run could still end well, and after this choice it cannot",
                 number, way->host, way->plain_host);
    else
        snprintf(text, sizeof(text),
                 "choice %llu (%s): answer %" PRIu32 "; with answer %" PRIu32
                 " the run could still end well, and after this choice it cannot",
                 number, emu_choice_kind_name(way->kind), given, way->other);
    return emu_text_copy(text);
}

/* From the last choice that is not plain backwards. */
static void find_critical(shrinker *self, tutti_explore_failure *failure) {
    self->run_count = 0;
    for (uint64_t place = self->best.count; place-- > 0;) {
        detour way = {0};
        bool found = can_turn_back(self, place, &way);
        if (self->status != TUTTI_OK || self->run_count >= CRITICAL_RUNS_MAX) return;
        if (!found) continue;
        char *text = describe_critical(self, place, &way);
        if (text != NULL) failure->critical = text;
        return;
    }
}

/* --- All of it --- */

/* Runs the small schedule once more, strictly, for its report and the command that repeats it. */
static void take_report(shrinker *self, tutti_explore_failure *failure) {
    emu_choice_record record;
    emu_choices choices;
    tutti_report *report = NULL;
    if (!record_of_list(&record, &self->best, self->best.count)) return;
    size_t bytes = emu_choice_record_format(&record, NULL, 0) + 1;
    char *text = malloc(bytes);
    if (text != NULL) emu_choice_record_format(&record, text, bytes);
    char *repeat = text != NULL ? self->subject->repeat(self->subject->context, text, "") : NULL;
    emu_choices_init_replay(&choices, &record, false);
    const emu_trial trial = {.choices = &choices, .repeat = repeat};
    self->status = self->subject->run(self->subject->context, &trial, &report, self->error);
    if (self->status == TUTTI_OK && emu_reports_alike(report, failure->report)) {
        tutti_report_free(failure->report);
        failure->report = report;
    } else {
        tutti_report_free(report);
    }
    emu_choices_free(&choices);
    emu_choice_record_free(&record);
    free(repeat);
    free(text);
}

tutti_status emu_shrink_failure(const emu_subject *subject, tutti_explore_failure *failure,
                                tutti_error *error) {
    shrinker self = {.subject = subject, .model = failure->report, .error = error};
    emu_choice_record record;
    bool repeats = failure->report->verdict != TUTTI_VERDICT_DIVERGENCE &&
                   failure->report->verdict != TUTTI_VERDICT_UNRESPONSIVE;
    if (!repeats || emu_choice_record_parse(failure->report->choices,
                                            strlen(failure->report->choices), &record, NULL))
        return TUTTI_OK;
    if (!list_of_record(&self.best, &record)) (void)out_of_memory(&self);
    emu_choice_record_free(&record);
    if (self.status == TUTTI_OK) shrink(&self);
    if (self.status == TUTTI_OK) find_critical(&self, failure);
    if (self.status == TUTTI_OK) take_report(&self, failure);
    free(self.best.answers);
    free(self.candidate.answers);
    return self.status;
}
