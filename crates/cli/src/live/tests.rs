//! The display under steps, times and sizes.
