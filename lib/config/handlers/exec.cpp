#include "config/handlers/exec.h"

#include "config/handlers/handler_schema.h"
#include "config/rules/checks.h"
#include "config/rules/rule_context.h"
#include "config/schema/property.h"
#include "config/text.h"

namespace laneway::config {
namespace {

using std::chrono::hours;

Property command_property() {
  auto property = list_property(
      "handler.exec.command", handler_at_start, "a list: the absolute path of a program, and its arguments",
      "the program that records are given to; there is no shell", in_handler(&ExecSettings::command),
      [](const std::string& word) -> Result<std::string> {
        if (word.find('\0') != word.npos) return wrong_value("it holds a zero byte");
        return word;
      },
      yaml_scalar, check_command);
  property.example = "[/usr/bin/python3, /etc/laneway/handler.py]";
  return property;
}

std::vector<Property> exec_properties() {
  std::vector<Property> table;
  table.push_back(command_property());
  table.push_back(choice<Framing>(
      "handler.exec.framing", handler_at_start, {{"json", Framing::json}, {"binary", Framing::binary}},
      "a line of JSON, or a length and compact fields", in_handler(&ExecSettings::framing)));
  table.push_back(duration("handler.exec.timeout", handler_at_start, milliseconds(1), hours(1),
                           "limit of one attempt; then the program is killed",
                           in_handler(&ExecSettings::timeout)));
  return table;
}

void check_exec(RuleContext& rules) {
  if (std::get<ExecSettings>(rules.config().handler).command.empty())
    rules.require_of_handler("handler.exec.command",
                             "a program and its arguments, such as [/opt/orders/handle, --fast]");
}

}  // namespace

HandlerSchemaOf<ExecSettings> exec_schema() {
  return HandlerSchemaOf<ExecSettings>(
      {.name = "exec",
       .properties = exec_properties,
       .check = check_exec,
       .section = {
           .position = 2,
           .text =
               "A program of yours, one for each worker. It reads a record a line and answers with a line.",
           .example =
               "handler:\n  exec: { command: [/usr/bin/python3, /etc/laneway/handler.py], timeout: 5s }\n"}});
}

}  // namespace laneway::config
