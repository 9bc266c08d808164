// A value or the reason why there is none.
//
// Errors that a person or the environment can cause travel as Result; exceptions stay at the edge of user
// code (handlers) and of libraries that throw. An Error's message says what happened and where; its hint what
// to do.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace laneway {

/// Sorted by what the caller can do about it; the program's exit codes follow from it.
enum class ErrorKind {
  usage,          ///< The command line is wrong.
  no_input,       ///< A named file is not there or cannot be read.
  configuration,  ///< A setting is wrong.
  unavailable,    ///< A broker, topic or address is unavailable now; trying again may help.
  exhausted,      ///< This process or machine has run out of descriptors, threads or memory.
  timeout,        ///< A deadline passed; whether the thing happened is not known.
  fatal,          ///< The client library or the process is in a state it cannot leave.
  internal,       ///< A defect of ours or of a library.
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

  /// Only when ok().
  T& value() & { return std::get<0>(content_); }
  const T& value() const& { return std::get<0>(content_); }
  T&& value() && { return std::get<0>(std::move(content_)); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

  /// Only when not ok().
  const Error& error() const { return std::get<1>(content_); }

 private:
  std::variant<T, Error> content_;
};

/// The result of something that yields nothing.
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
