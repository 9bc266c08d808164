// The command line: calls one verb with its options. Only this file, the command_line.cpp of the folders
// below, and app/cli know CLI11. They are compiled together, because its headers take longer than all the
// rest of them.
#pragma once

namespace laneway::app {

/// Reads the arguments and calls one verb (verbs.h). Returns the program's exit code (exit_code.h). Explains
/// a wrong command line on standard error. Throws the exceptions of the verb.
int command_line(int argc, char** argv);

}  // namespace laneway::app
