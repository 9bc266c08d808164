// A value, or the reason why there is no value.
//
// Errors that a person or the environment can cause are returned as Result; exceptions stay at the edge of
// user code (handlers) and of libraries that throw. The message of an Error says what happened and where; its
// hint says what to do.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace laneway {

/// Kinds of errors, by what the caller can do; the program's exit codes follow from them.
enum class ErrorKind {
  usage,          ///< The command line is wrong.
  no_input,       ///< A named file does not exist or cannot be read.
  configuration,  ///< A setting is wrong.
  unavailable,    ///< A broker, topic or address is unavailable now; trying again may help.
  exhausted,      ///< This process or machine has run out of descriptors, threads or memory.
  timeout,        ///< A deadline passed; it is not known whether the action took place.
  fatal,          ///< The client library or the process is in a state that it cannot leave.
  internal,       ///< A defect of laneway or of a library.
};

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::string hint;

  /// "message (hint)" for a log line or a terminal.
  std::string text() const { return hint.empty() ? message : message + " (" + hint + ")"; }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }

  /// Call only if ok().
  T& value() & { return std::get<0>(content_); }
  const T& value() const& { return std::get<0>(content_); }
  T&& value() && { return std::get<0>(std::move(content_)); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

  /// Call only if not ok().
  const Error& error() const { return std::get<1>(content_); }

 private:
  std::variant<T, Error> content_;
};

/// The result of a function that returns no value.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)), ok_(false) {}

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace laneway
