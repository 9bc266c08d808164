// Verbs for single records with all that they bear: key, value, headers and timestamp, bytes in hexadecimal.
#pragma once

#include <string>

namespace kafka_tool {

/// Writes the records of standard input, a JSON object a line: {"partition":0,"key":"6b","value":"76",
/// "timestamp":1700000000000,"headers":[["name","76"],["nothing",null]]}; key and value may be null, all but
/// the value may be left out. Prints each one's offset, in that order.
void write_records(const std::string& bootstrap, const std::string& topic);

/// Prints every record in the same form, with its offset, from the start to the present end of each
/// partition, without aborted transactions.
void read_records(const std::string& bootstrap, const std::string& topic);

}  // namespace kafka_tool
