//! Pages that the environment asks for, in programs that end oddly.
