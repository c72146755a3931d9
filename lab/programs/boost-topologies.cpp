#include <boost/graph/adjacency_list.hpp>
#include <boost/mpi.hpp>
#include <boost/mpi/cartesian_communicator.hpp>
#include <boost/mpi/graph_communicator.hpp>
#include <iostream>

namespace mpi = boost::mpi;

// The sum over all processes of the neighbors' ranks, each multiplied by its position.
static int sum(const mpi::communicator &over, const std::vector<int> &neighbors)
{
    std::vector<int> found(neighbors.size());
    std::vector<mpi::request> requests;
    int place = 1, own = 0;
    for (std::size_t i = 0; i < neighbors.size(); i++) {
        requests.push_back(over.irecv(neighbors[i], 0, found[i]));
        requests.push_back(over.isend(neighbors[i], 0, over.rank()));
    }
    mpi::wait_all(requests.begin(), requests.end());
    for (int rank : found) own += place++ * rank * (over.rank() + 1);
    return mpi::all_reduce(over, own, std::plus<int>());
}

int main()
{
    mpi::environment environment;
    mpi::communicator world;
    mpi::cartesian_communicator grid(world, mpi::cartesian_topology({{4, true}, {2, false}}), true);
    auto shift = grid.shifted_ranks(0, 1);
    int around = sum(grid, {shift.first, shift.second});

    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> ring(world.size());
    for (int rank = 0; rank < world.size(); rank++) {
        add_edge(rank, (rank + 3) % world.size(), ring);
        add_edge((rank + 3) % world.size(), rank, ring);
    }
    mpi::graph_communicator graph(world, ring, true);
    std::vector<int> neighbors;
    auto ends = adjacent_vertices(graph.rank(), graph);
    for (auto at = ends.first; at != ends.second; ++at) neighbors.push_back(*at);
    std::sort(neighbors.begin(), neighbors.end());
    int along = sum(graph, neighbors);
    if (world.rank() == 0) std::cout << "grid " << around << ", graph " << along << " of " << num_edges(graph) << " edges\n";
}
