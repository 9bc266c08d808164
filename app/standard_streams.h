// Descriptors 0, 1 and 2 are there before anything else is opened.
//
// A parent may have closed some of them (`laneway run 0<&- 1>&- 2>&-`, some supervisors). The next file or
// socket would then get such a number, and what is written to standard output or standard error would land in
// it: log lines in the journal of attempts, or in a client's connection.
//
// Threads: called once, first thing in main(). Does not block.
#pragma once

namespace laneway::app {

/// Opens /dev/null for each of descriptors 0 to 2 that is closed. False: /dev/null cannot be opened; errno
/// says why.
bool open_standard_streams();

}  // namespace laneway::app
