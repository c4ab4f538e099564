//! Checkpoints as they are on disk: a folder with config.json, weights in safetensors files and tokenizer.json.
//!
//! Where to start: [`program`] is what `--model` does. [`config`] says which models are understood, [`files`] and [`needs`]
//! which weights, [`text`] is the tokenizer. [`weights`] brings the weights to the device, [`model`] is the step there, and
//! [`decoder`] runs it. Whatever is not understood is refused by name: [`failure`].

pub mod config;
pub mod decoder;
pub mod failure;
pub mod files;
pub mod kernels;
pub mod keys;
pub mod model;
pub mod needs;
pub mod program;
pub mod rope;
pub mod text;
pub mod weights;

pub use config::Config;
pub use decoder::{Decoder, How};
pub use failure::{Failure, Refused};
pub use files::Files;
pub use model::{Choice, Model, Sequence};
pub use needs::Kind;
pub use text::{Streaming, Text};
pub use weights::Weights;
