/* A machine for SMPI: NODES nodes of CORES processors, each with a link of 100 Gbit/s and 1 us to one switch. What a message
 * takes of the processors of its sender and of its receiver depends on whether it stays inside a node: INSIDE or BETWEEN
 * seconds, which SMPI's own settings cannot tell apart. */
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>

#include <cstdlib>
#include <string>

namespace sg4 = simgrid::s4u;

static double number(const char* name)
{
  const char* text = std::getenv(name);
  xbt_assert(text, "there is no %s", name);
  return std::atof(text);
}

extern "C" void load_platform(const sg4::Engine&);
void load_platform(const sg4::Engine&)
{
  auto* zone = sg4::create_star_zone("nodes");
  for (int i = 0; i < number("NODES"); i++) {
    std::string name = "n" + std::to_string(i);
    auto* host = zone->create_host(name, "1Gf")->set_core_count(static_cast<int>(number("CORES")));
    auto* up = zone->create_split_duplex_link(name + "_link", "12.5GBps")->set_latency("1us")->seal();
    auto* loop = zone->create_link(name + "_loopback", "50GBps")->set_latency("200ns")->set_sharing_policy(sg4::Link::SharingPolicy::FATPIPE)->seal();
    host->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {sg4::LinkInRoute(up, sg4::LinkInRoute::Direction::UP)}, true);
    zone->add_route(host->get_netpoint(), host->get_netpoint(), nullptr, nullptr, {sg4::LinkInRoute(loop)});
  }
  zone->seal();
  auto cost = [inside = number("INSIDE"), between = number("BETWEEN")](size_t, sg4::Host* from, sg4::Host* to) {
    return from == to ? inside : between;
  };
  smpi_register_op_cost_callback(SmpiOperation::ISEND, cost);
  smpi_register_op_cost_callback(SmpiOperation::SEND, cost);
  smpi_register_op_cost_callback(SmpiOperation::RECV, cost);
}
