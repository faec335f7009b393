//! For tests: starts real services on loopback, in a temporary folder, and stops them by their process id.
