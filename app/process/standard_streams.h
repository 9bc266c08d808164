// Makes sure that descriptors 0, 1 and 2 are open before anything else is opened.
//
// A parent may have closed some of them (`laneway run 0<&- 1>&- 2>&-`, some supervisors). The next file or
// socket would then get such a number, and text for standard output or standard error would go there: log
// lines into the journal of attempts, or into a client's connection.
//
// Threads: called once, at the beginning of main(). Does not block.
#pragma once

namespace laneway::app {

/// Opens /dev/null for each closed descriptor from 0 to 2. Returns false, with errno, if /dev/null cannot be
/// opened.
bool open_standard_streams();

}  // namespace laneway::app
