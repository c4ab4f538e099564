//! What a plan promises: by texts, against the plain definition, and on recordings made to be slow.

mod definition;
mod layouts;
mod shapes;
mod texts;

use super::{Order, Shape, TouchedBytes, What, by_data as crate_by_data, order};

fn by_data(ops: &[Vec<TouchedBytes>]) -> Order {
    order(ops.iter().map(Vec::as_slice), Shape::Data)
}

fn read(memory: u32, start: u64, end: u64) -> TouchedBytes {
    TouchedBytes { memory, start, end, write: false }
}

fn write(memory: u32, start: u64, end: u64) -> TouchedBytes {
    TouchedBytes { memory, start, end, write: true }
}

fn joins(order: &Order) -> usize {
    order.steps().iter().filter(|step| step.what == What::Join).count()
}

fn edges(order: &Order) -> usize {
    (0..order.steps().len()).map(|step| order.after(step).len()).sum()
}
