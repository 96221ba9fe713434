//! What a run of an agent costs, model and tool aside: `cargo bench --bench agent_loop`.

use divan::{AllocProfiler, Bencher, black_box};
use tower_agent_benches::{
    agent, catalog,
    payload::{LARGE, SMALL},
    peer,
};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// Our agent, by the number of tool calls of a run and the size of their results.
#[divan::bench(args = catalog::TURNS, consts = [SMALL, LARGE])]
fn tower_agent<const SIZE: usize>(bencher: Bencher<'_, '_>, turns: usize) {
    let (prepare, mut run) = agent::run(&agent::runtime(), SIZE, turns).into_parts();
    bencher.with_inputs(prepare).bench_local_values(|()| run(()));
}

/// The peer's, doing the same.
#[divan::bench(args = catalog::TURNS, consts = [SMALL, LARGE])]
fn adk_rust<const SIZE: usize>(bencher: Bencher<'_, '_>, turns: usize) {
    let (prepare, mut run) = peer::run(&agent::runtime(), SIZE, turns).into_parts();
    bencher.with_inputs(prepare).bench_local_values(|session| run(black_box(session)));
}
