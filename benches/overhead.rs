//! What a layer costs a tool call: `cargo bench --bench overhead`.

use divan::{AllocProfiler, Bencher, black_box};
use tower_agent_benches::{
    hooks, layers,
    payload::{HUGE, SMALL},
    peer,
    stack::{self, ToolCase},
};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

/// Calls that are prepared at a time and timed together.
const SAMPLE: u32 = 256;

fn main() {
    divan::main();
}

/// A list of cases as arguments of a bench, which builds the one that it is about to run.
macro_rules! benches {
    ($($(#[$doc:meta])* $name:ident: $cases:path;)*) => {$(
        $(#[$doc])*
        #[divan::bench(args = names($cases), consts = [SMALL, HUGE], sample_size = SAMPLE)]
        fn $name<const SIZE: usize>(bencher: Bencher<'_, '_>, name: &str) {
            let found = $cases(SIZE).into_iter().find(|(other, _)| *other == name);
            let (_, case) = found.expect("names come from the same list");
            run(bencher, case);
        }
    )*};
}

benches! {
    /// Nothing but layers that pass through.
    passing: stack::passing;
    /// Each layer alone.
    layer: layers::alone;
    /// Ten hooks, put together in each way there is.
    ten_hooks: hooks::many;
}

/// The peer's pipeline around the same tool.
#[divan::bench(args = [0, 1, 5, 10], sample_size = SAMPLE)]
fn adk_plugins(bencher: Bencher<'_, '_>, plugins: usize) {
    let (prepare, mut run) = peer::pipeline(SMALL, plugins).into_parts();
    bencher.with_inputs(prepare).bench_local_values(|arguments| run(black_box(arguments)));
}

fn names(cases: fn(usize) -> Vec<(&'static str, ToolCase)>) -> Vec<&'static str> {
    cases(SMALL).into_iter().map(|(name, _)| name).collect()
}

fn run(bencher: Bencher<'_, '_>, case: ToolCase) {
    let (prepare, mut run) = case.into_parts();
    bencher.with_inputs(prepare).bench_local_values(|call| run(black_box(call)));
}
