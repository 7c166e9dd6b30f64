// Writes all golden traces and pictures anew into the workspace: ./bazelw run //tests/golden:update

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/golden/golden_traces.h"

int main() {
    const char *workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
    if (workspace == nullptr) {
        std::fputs("run this with ./bazelw run //tests/golden:update\n", stderr);
        return EXIT_FAILURE;
    }
    for (const std::string &name : tutti_test::golden_names()) {
        std::ofstream file(std::string(workspace) + "/" + tutti_test::golden_file(name),
                           std::ios::binary);
        file << tutti_test::golden_trace(name);
        if (!file.good()) return EXIT_FAILURE;
    }
    for (const tutti_test::GoldenPicture &picture : tutti_test::golden_pictures()) {
        std::ofstream file(std::string(workspace) + "/" + tutti_test::golden_file(picture),
                           std::ios::binary);
        file << tutti_test::golden_picture(picture);
        if (!file.good()) return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
