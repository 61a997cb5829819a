#pragma once
// Errors as they are told over HTTP.

#include <string>

#include "base/result.h"

namespace gw::httpd {

// The HTTP status of an error of this kind; the one table.
unsigned status_of(Kind kind);

// {"error": {"kind", "message", "next"}}: what went wrong, and what to do about it.
std::string error_body(const Error& error);

// Back again; `status` says what happened when the body does not.
Error error_of(unsigned status, std::string_view body);

}  // namespace gw::httpd
