// The command line: which verb is called, and with what. Only this file and the command_line.* of the folders
// below know CLI11; they are compiled together, because its headers take longer than all the rest of them.
#pragma once

namespace laneway::app {

/// Reads the arguments and calls one verb (verbs.h). Returns the program's exit code (exit_code.h). Throws
/// what the verb throws; a wrong command line is explained on standard error.
int command_line(int argc, char** argv);

}  // namespace laneway::app
