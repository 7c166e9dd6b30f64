#include <cctype>
#include <vector>

#include "tests/trace/grammar.h"

namespace {

class Xml {
  public:
    explicit Xml(const std::string &text) : text_(text) {}

    std::string problem() {
        if (take("<?xml version=\"1.0\" encoding=\"UTF-8\"?>")) blanks();
        while (problem_.empty() && at_ < text_.size())
            next();
        if (problem_.empty() && (!open_.empty() || !seen_)) fail("an element is not closed");
        return problem_;
    }

  private:
    void fail(const std::string &what) {
        if (problem_.empty()) problem_ = what + " at byte " + std::to_string(at_);
    }
    bool take(const std::string &piece) {
        if (text_.compare(at_, piece.size(), piece) != 0) return false;
        at_ += piece.size();
        return true;
    }
    void blanks() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
            at_++;
    }
    std::string name() {
        const size_t from = at_;
        while (at_ < text_.size() &&
               (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-'))
            at_++;
        if (from == at_) fail("a name is missing");
        return text_.substr(from, at_ - from);
    }
    void character() {
        const auto byte = static_cast<unsigned char>(text_[at_]);
        if (byte == '&') {
            const size_t end = text_.find(';', at_);
            const std::string entity = text_.substr(at_, end - at_ + 1);
            const bool known = entity == "&lt;" || entity == "&gt;" || entity == "&amp;" ||
                               entity == "&quot;" || entity == "&#10;" || entity == "&#9;";
            if (!known) fail("an unknown entity, " + entity);
            at_ += entity.size();
            return;
        }
        if (byte < 0x20 && byte != '\n' && byte != '\t') fail("a character that XML has not");
        if (byte == 0xEF && (take("\xEF\xBF\xBE") || take("\xEF\xBF\xBF")))
            fail("a character that XML has not");
        at_++;
    }
    void attributes() {
        for (blanks(); at_ < text_.size() && text_[at_] != '>' && text_[at_] != '/'; blanks()) {
            name();
            if (!take("=\"")) fail("an attribute has no value");
            while (problem_.empty() && at_ < text_.size() && text_[at_] != '"') {
                if (text_[at_] == '<') fail("< in an attribute");
                character();
            }
            if (!take("\"")) fail("a value does not end");
            if (!problem_.empty()) return;
        }
    }
    void next() {
        if (take("</")) {
            const std::string closed = name();
            if (open_.empty() || open_.back() != closed)
                return fail("</" + closed + "> closes nothing");
            open_.pop_back();
            if (!take(">")) fail("a tag does not end");
        } else if (take("<")) {
            if (open_.empty() && seen_) return fail("a second element");
            seen_ = true;
            open_.push_back(name());
            attributes();
            if (take("/")) open_.pop_back();
            if (!take(">")) fail("a tag does not end");
        } else if (open_.empty()) {
            if (!std::isspace(static_cast<unsigned char>(text_[at_]))) fail("text outside");
            at_++;
        } else {
            character();
        }
    }

    const std::string &text_;
    size_t at_ = 0;
    bool seen_ = false;
    std::vector<std::string> open_;
    std::string problem_;
};

} // namespace

std::string xml_problem(const std::string &text) {
    return Xml(text).problem();
}
