//! Edges between ops from what they read and write.
