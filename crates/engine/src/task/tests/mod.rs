//! The machine, driven by hand. `world` speaks the product's language: what a role answers, what a tool returns, how much
//! time goes by. Everything else is one file per question that is asked of the loop.

mod accountability;
mod ari;
mod contract;
mod does_not;
mod invariants;
mod laws;
mod loop_branches;
mod one_way;
mod scaling;
mod world;
