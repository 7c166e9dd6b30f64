#ifndef TUTTI_TESTS_GRAMMAR_H
#define TUTTI_TESTS_GRAMMAR_H

// Whether texts are what they claim to be. Each gives "" or what is wrong, and where.

#include <string>

// XML 1.0 as far as it is used here: one element with others in it, attributes in double quotes,
// the five entities and numbers, no character that XML has not.
std::string xml_problem(const std::string &text);

// DOT as far as it is used here: a digraph of statements with attributes in double quotes; edges
// lead to nodes that exist.
std::string dot_problem(const std::string &text);

// Chrome's trace format: complete events of a track nest or are disjoint, asynchronous ones end,
// flows begin and end within complete events, every track has a name.
std::string chrome_problem(const std::string &text);

#endif
