#include <cctype>
#include <set>
#include <string>

#include "tests/trace/grammar.h"

namespace {

class Dot {
  public:
    explicit Dot(const std::string &text) : text_(text) {}

    std::string problem() {
        need("digraph");
        word();
        need("{");
        while (problem_.empty() && !sees("}"))
            statement();
        need("}");
        blanks();
        if (at_ != text_.size()) fail("text behind the graph");
        for (const std::string &node : wanted_)
            if (nodes_.count(node) == 0) fail("there is no node " + node);
        return problem_;
    }

  private:
    void fail(const std::string &what) {
        if (problem_.empty()) problem_ = what + " at byte " + std::to_string(at_);
    }
    void blanks() {
        while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
            at_++;
    }
    bool sees(const std::string &piece) {
        blanks();
        return text_.compare(at_, piece.size(), piece) == 0;
    }
    bool take(const std::string &piece) {
        if (!sees(piece)) return false;
        at_ += piece.size();
        return true;
    }
    void need(const std::string &piece) {
        if (!take(piece)) fail("expected " + piece);
    }
    std::string word() {
        blanks();
        const size_t from = at_;
        while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])))
            at_++;
        if (from == at_) fail("expected a name");
        return text_.substr(from, at_ - from);
    }
    void value() {
        need("=");
        need("\"");
        while (at_ < text_.size() && text_[at_] != '"') {
            if (static_cast<unsigned char>(text_[at_]) < 0x20) fail("a control character");
            at_ += text_[at_] == '\\' ? 2 : 1;
        }
        need("\"");
    }
    void statement() {
        const std::string first = word();
        if (!problem_.empty()) return;
        if (sees("=")) {
            value();
        } else {
            if (take("->")) {
                wanted_.insert(first);
                wanted_.insert(word());
            } else if (first != "node" && first != "edge") {
                nodes_.insert(first);
            }
            need("[");
            while (problem_.empty() && !take("]")) {
                word();
                value();
            }
        }
        need(";");
    }

    const std::string &text_;
    size_t at_ = 0;
    std::set<std::string> nodes_, wanted_;
    std::string problem_;
};

} // namespace

std::string dot_problem(const std::string &text) {
    return Dot(text).problem();
}
