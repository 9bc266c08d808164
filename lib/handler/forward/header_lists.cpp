#include "handler/forward/header_lists.h"

#include <string>

namespace laneway::handler {

delivery::Headers headers_of(const kafka::Record& record) {
  delivery::Headers headers;
  for (const auto& header : record.raw_headers())
    headers.push_back({std::string(header.name), kafka::copy_of(header.value)});
  return headers;
}

std::vector<kafka::Header> views_of(const delivery::Headers& headers) {
  std::vector<kafka::Header> views;
  views.reserve(headers.size());
  for (const auto& header : headers) views.push_back({header.name, header.value});
  return views;
}

}  // namespace laneway::handler
