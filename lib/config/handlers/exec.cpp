#include "config/handlers/handler_schema.h"

#include "config/checks/checks.h"
#include "config/checks/rule_context.h"
#include "config/handlers/exec_command.h"
#include "config/property.h"
#include "config/text.h"

namespace laneway::config {
namespace {

using std::chrono::hours;

std::string check_word(const std::string& word) {
  return word.find('\0') == word.npos ? "" : "a word contains a zero byte";
}

Rows exec_properties() {
  return rows_of<ExecSettings>({
      {"handler.exec.command",
       list("a list: a program and its arguments", checked(check_word), check_command),
       &ExecSettings::command,
       "The program that receives the records, and its arguments. A program without a slash is looked up in "
       "PATH once, when the configuration is read. A relative path with a slash, and an argument that is the "
       "relative path of an existing file, are resolved against the folder of the configuration file. No "
       "shell is involved.",
       "[python3, handler.py]"},
      {"handler.exec.framing", choice<Framing>({{"json", Framing::json}, {"binary", Framing::binary}}),
       &ExecSettings::framing,
       "The format of records and answers: `json` is one line of JSON each, `binary` a length and compact "
       "fields, which need no base64."},
      {"handler.exec.timeout", duration(milliseconds(1), hours(1)), &ExecSettings::timeout,
       "Time limit of one attempt. A program that does not answer in time is killed and started again."},
      {"handler.exec.idle", duration(seconds(1), hours(24 * 365)), &ExecSettings::idle,
       "A program that has had no record for this time is ended. More records start programs again."},
      {"handler.exec.max_records", count(0, 1'000'000'000'000), &ExecSettings::max_records,
       "A program is replaced after it has answered this number of records, so that memory that it loses "
       "does not add up; 0: never."},
      {"handler.exec.max_age", duration(Duration::zero(), hours(24 * 365)), &ExecSettings::max_age,
       "A program that is older than this is replaced when it has answered its record; 0s: never."},
  });
}

void check_exec(const HandlerSettings& handler, RuleContext& rules) {
  if (std::get<ExecSettings>(handler).command.empty())
    rules.require_of_handler("handler.exec.command",
                             "a program and its arguments, such as [python3, handler.py]");
}

void resolve_exec(HandlerSettings& handler, const CommandPlace& place, RuleContext& rules) {
  auto& command = std::get<ExecSettings>(handler).command;
  if (rules.concern("handler.exec.command")) return;
  if (const auto problem = resolve_command(command, place))
    rules.refuse({"handler.exec.command"}, problem->what, problem->hint);
}

std::string program_of_exec(const HandlerSettings& handler) {
  return shown_command(std::get<ExecSettings>(handler).command);
}

}  // namespace

HandlerSchema schema_of(const ExecSettings&) {
  return {
      .name = "exec",
      .properties = exec_properties,
      .check = check_exec,
      .resolve = resolve_exec,
      .traits = {.occupies = Occupies::core,
                 .gives_results = true,
                 .does_work = true,
                 .output = nullptr,
                 .program = program_of_exec},
      .section = {
          .position = 2,
          .text = "A program of your own reads one record per line from its standard input, and writes one "
                  "answer per line. Each running record has a process of its own: [writing "
                  "handlers](writing-handlers.md).",
          .example = "handler:\n  exec: { command: [python3, handler.py], timeout: 5s }\n"}};
}

}  // namespace laneway::config
