// The log of the verbs that answer a question: check and dlq.
#pragma once

namespace laneway::cli {

/// Warnings and errors of the Kafka client go to standard error, or nowhere unless `shown`: a verb prints the
/// reason of a failure itself, once. Called once, before the process has other threads.
void set_up_log(bool shown);

}  // namespace laneway::cli
