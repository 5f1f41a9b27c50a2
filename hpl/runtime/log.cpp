// SPDX-License-Identifier: Apache-2.0
#include "hpl/runtime/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "hpl/error.h"

namespace hpl::runtime::log {
namespace {

/// Never destroyed: messages may come from destructors of static objects.
spdlog::logger& logger() {
  static spdlog::logger& instance = [&]() -> spdlog::logger& {
    auto* made = new spdlog::logger("hpl", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made->set_level(spdlog::level::trace);  // `shows` decides
    made->set_pattern("hpl: %^%l%$: %v");
    return *made;
  }();
  return instance;
}

void write(LogLevel level, spdlog::level::level_enum spdlogLevel, std::string_view message) {
  if (shows(level))
    logger().log(spdlogLevel, spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace

bool shows(LogLevel level) {
  LogLevel limit = LogLevel::Warn;
  try {
    limit = settings().log;
  } catch (const SettingsError&) {
    // The caller of settings() reports them; messages go on with the default.
  }
  return level != LogLevel::Off && level <= limit;
}

void error(std::string_view message) { write(LogLevel::Error, spdlog::level::err, message); }
void warn(std::string_view message) { write(LogLevel::Warn, spdlog::level::warn, message); }
void info(std::string_view message) { write(LogLevel::Info, spdlog::level::info, message); }
void debug(std::string_view message) { write(LogLevel::Debug, spdlog::level::debug, message); }

}  // namespace hpl::runtime::log
