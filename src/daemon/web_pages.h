#pragma once
// The dashboard, as web/dashboard builds it.

#include <span>

#include "gateway/web/web_page.h"

namespace gw::daemon {

// Generated (web/dashboard/embed.py).
std::span<const gateway::WebPage> web_pages();

}  // namespace gw::daemon
