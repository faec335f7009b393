//! Every branch of the steered loop, by scripted inputs.

mod cancelled;
mod clock;
mod corrections;
mod dispatch;
mod endings;
mod evidence;
mod memory;
mod owner;
mod planning;
mod proof;
mod questions;
mod replans;
mod silence;
