# smpi-nodes.sh: simulated nodes for SMPI, each with a link to one switch; scripts source it.

# print_platform NODES CORES: the machine, in SimGrid's form.
print_platform() {
    cat <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-$(($1 - 1))" speed="1Gf" core="$2" bw="12.5GBps" lat="1us"
           loopback_bw="50GBps" loopback_lat="200ns"/>
</platform>
XML
}

# print_hosts NODES CORES: the node of each rank, one node filled after the other.
print_hosts() {
    local rank
    for ((rank = 0; rank < $1 * $2; rank++)); do echo "n$((rank / $2))"; done
}
