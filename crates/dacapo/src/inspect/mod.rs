//! What a recording and a graph consist of, as plain data.
