#pragma once
// The header of a request about a job whose home is another peer: its value is the ticket of the job.

#include <string_view>

namespace gw::gateway {

inline constexpr std::string_view kTicketHeader = "Godwit-Ticket";

}  // namespace gw::gateway
