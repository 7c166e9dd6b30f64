#!/bin/bash
# What the documents link to, and every path and package that they name, exists.
. tests/tidy/checks.sh
check_documents
