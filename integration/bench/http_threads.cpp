// Posts the same record again and again, one request at a time on each of `--threads` threads, with libcurl's
// easy interface and kept-alive connections: how a web service is usually called from a pool of threads.
// Without a Kafka. Prints one JSON line.
#include <curl/curl.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "process.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Counts {
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> failed{0};
};

struct Free {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

/// What laneway sends beside the body.
std::unique_ptr<curl_slist, Free> headers_of_a_record() {
  curl_slist* list = nullptr;
  for (const char* line :
       {"Content-Type: application/octet-stream", "Expect:", "Kafka-Topic: http", "Kafka-Partition: 3",
        "Kafka-Offset: 123456", "Kafka-Timestamp: 1767323045678", "Kafka-Key: key-1234", "Laneway-Attempt: 1",
        "Laneway-Delivery-Id: MkU3OEVBNTcwNTJENDM2Qg/http/3/123456"})
    list = curl_slist_append(list, line);
  return std::unique_ptr<curl_slist, Free>(list);
}

void post_until_stop(const std::string& url, const std::string& body, Counts& counts) {
  const std::unique_ptr<CURL, Free> easy(curl_easy_init());
  const auto headers = headers_of_a_record();
  curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDS, body.data());
  curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
  curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT_MS, 10'000L);
  while (!counts.stop.load(std::memory_order_relaxed)) {
    long status = 0;
    const bool answered = curl_easy_perform(easy.get()) == CURLE_OK;
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
    (answered && status == 200 ? counts.done : counts.failed).fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("One request a thread");
  std::string url;
  std::size_t threads = 256, size = 200;
  double seconds = 10;
  app.add_option("--url", url)->required();
  app.add_option("--threads", threads);
  app.add_option("--size", size, "bytes of the body");
  app.add_option("--seconds", seconds);
  try {
    CLI11_PARSE(app, argc, argv);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const std::string body(size, 'x');
    Counts counts;
    std::vector<std::thread> posting;
    for (std::size_t i = 0; i < threads; ++i)
      posting.emplace_back([&] { post_until_stop(url, body, counts); });
    std::this_thread::sleep_for(std::chrono::seconds(1));  // connections are there
    const auto begin = Clock::now();
    const auto before = counts.done.load();
    const double cpu = bench::cpu_seconds();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    const auto done = static_cast<double>(counts.done.load() - before);
    const double wall = std::chrono::duration<double>(Clock::now() - begin).count();
    const nlohmann::ordered_json result{{"rate", done / wall},
                                        {"cpu_us", (bench::cpu_seconds() - cpu) * 1e6 / done},
                                        {"peak_mib", bench::peak_resident_mib()}};
    counts.stop.store(true);
    for (auto& thread : posting) thread.join();
    if (counts.failed.load() > 0)
      throw std::runtime_error(std::to_string(counts.failed.load()) + " requests failed");
    std::cout << result << std::endl;
  } catch (const std::exception& failure) {
    std::cerr << "http_threads: " << failure.what() << '\n';
    return 69;
  }
}
