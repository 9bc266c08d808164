// Measures one pool in this process: wall and processor time a job, and the most memory. Without a pool's
// library the result is {"missing": 1}. "calibrate" prints the steps of work that take a microsecond.
#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "../process.h"
#include "run.h"

namespace {

using Make = std::unique_ptr<pools::Pool> (*)(const pools::Settings&);

double calibrate() {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < 200; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    pools::work(100000);
    best = std::min(
        best, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count());
  }
  return 100000 / best;
}

nlohmann::json measure(const Make make, const pools::Settings& settings) {
  const auto pool = make(settings);
  if (!pool) return {{"missing", 1}};
  pool->run(settings,
            settings.jobs / 10 + settings.workers * settings.producers);  // threads and memory are there
  const auto cpu = bench::cpu_seconds();
  const auto seconds = pool->run(settings, settings.jobs);
  const auto jobs = static_cast<double>(settings.jobs);
  return {{"wall_ns", seconds * 1e9 / jobs},
          {"cpu_us", (bench::cpu_seconds() - cpu) * 1e6 / jobs},
          {"peak_mib", bench::peak_resident_mib()}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, Make> known = {{"laneway", pools::make_laneway},
                                             {"bs", pools::make_bs},
                                             {"asio", pools::make_asio},
                                             {"tbb", pools::make_tbb},
                                             {"moodycamel", pools::make_moodycamel}};
  CLI::App app("one pool, one measurement");
  pools::Settings settings;
  std::string pool;
  std::vector<std::string> names = {"calibrate"};
  for (const auto& [name, make] : known) names.push_back(name);
  app.add_option("pool", pool)->required()->check(CLI::IsMember(names));
  app.add_option("--workers", settings.workers);
  app.add_option("--producers", settings.producers);
  app.add_option("--jobs", settings.jobs);
  app.add_option("--steps", settings.steps, "of work in a job");
  app.add_option("--batch", settings.batch);
  CLI11_PARSE(app, argc, argv);
  const auto result =
      pool == "calibrate" ? nlohmann::json{{"steps_per_us", calibrate()}} : measure(known.at(pool), settings);
  std::cout << result.dump() << "\n";
  return 0;
}
