//! Views: parts of slices, of other types, in kernels and copies.

use cudarc::driver::{CudaContext, CudaView};

use crate::kernels::{kernel, one_block};
use crate::transcript::{Outcome, Transcript, launch, raw, scenarios};

scenarios!("views",
    right: [ranges, bounds, mutable, split, split_mutable, chunks, transmute, transmute_too_long, of_a_view,
        in_kernels, mutable_in_kernels, halves_on_two_streams],
    mistaken: []);

fn ranges(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let data = stream.clone_htod(&[0_u32, 1, 2, 3, 4, 5, 6, 7])?;
    t.value("..", stream.clone_dtoh(&data.slice(..)));
    t.value("2..5", stream.clone_dtoh(&data.slice(2..5)));
    t.value("..=1", stream.clone_dtoh(&data.slice(..=1)));
    t.value("6..", stream.clone_dtoh(&data.slice(6..)));
    t.value("none of it", stream.clone_dtoh(&data.slice(4..4)));
    Ok(())
}

fn bounds(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let mut data = context.default_stream().alloc_zeros::<u8>(10)?;
    for (start, end) in [(0, 10), (10, 10), (0, 11), (11, 11), (3, 2)] {
        t.note(&format!("{start}..{end}"), data.try_slice(start..end).map(|view| view.len()));
        t.note("mutable", data.try_slice_mut(start..end).map(|view| view.len()));
    }
    t.note("split at 11", data.try_split_at(11).is_some());
    Ok(())
}

fn mutable(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let mut data = stream.clone_htod(&[1_u16; 6])?;
    stream.memset_zeros(&mut data.slice_mut(1..3))?;
    stream.memcpy_htod(&[7_u16, 8], &mut data.slice_mut(4..))?;
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn split(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let data = stream.clone_htod(&[1_i32, 2, 3, 4, 5])?;
    let (left, right) = data.split_at(2);
    t.value("left", stream.clone_dtoh(&left));
    t.value("right", stream.clone_dtoh(&right));
    t.note("at the end", data.try_split_at(5).map(|(left, right)| (left.len(), right.len())));
    Ok(())
}

fn split_mutable(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let mut data = stream.clone_htod(&[1_i32, 2, 3, 4])?;
    let (left, mut right) = data.split_at_mut(2);
    stream.memcpy_dtod(&left, &mut right)?;
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn chunks(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let mut data = stream.clone_htod(&[1_u8, 2, 3, 4, 5, 6])?;
    for chunk in data.as_view().chunks_exact(2) {
        t.value("chunk", stream.clone_dtoh(&chunk));
    }
    for (at, mut chunk) in data.as_view_mut().chunks_exact_mut(3).enumerate() {
        stream.memcpy_htod(&[at as u8 * 10; 2], &mut chunk)?;
    }
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn transmute(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let mut data = stream.clone_htod(&[1.0_f32, -2.0, 0.5])?;
    if let Some(words) = raw!(data.transmute::<u32>(3)) {
        t.value("as words", stream.clone_dtoh(&words));
    }
    if let Some(mut bytes) = raw!(data.transmute_mut::<u8>(12)) {
        stream.memset_zeros(&mut bytes.slice_mut(4..8))?;
    }
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn transmute_too_long(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let mut data = context.default_stream().alloc_zeros::<u16>(3)?;
    t.note("one u32", raw!(data.transmute::<u32>(1)).is_some());
    t.note("two", raw!(data.transmute::<u32>(2)).is_some());
    t.note("six bytes", raw!(data.transmute_mut::<u8>(6)).is_some());
    t.note("seven", raw!(data.transmute_mut::<u8>(7)).is_some());
    Ok(())
}

fn of_a_view(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let mut data = stream.clone_htod(&[0_u64, 1, 2, 3, 4, 5, 6, 7, 8, 9])?;
    let view: CudaView<'_, u64> = data.slice(2..8);
    t.value("of a view", stream.clone_dtoh(&view.slice(1..3)));
    let mut view = data.slice_mut(5..);
    stream.memset_zeros(&mut view.slice_mut(2..4))?;
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn in_kernels(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let saxpy = kernel(&context, "saxpy")?;
    let x = stream.clone_htod(&[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let mut y = stream.clone_htod(&[10.0_f32; 6])?;
    {
        let (from, mut to) = (x.slice(3..), y.slice_mut(1..4));
        launch!(stream, &saxpy, one_block(32), &3_u32, &2.0_f32, &from, &mut to)?;
    }
    t.value("y", stream.clone_dtoh(&y));
    Ok(())
}

fn mutable_in_kernels(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.default_stream();
    let add = kernel(&context, "add_one")?;
    let mut data = stream.alloc_zeros::<u32>(12)?;
    for batch in 0..3 {
        let mut view = data.slice_mut(batch * 4..);
        let n = view.len() as u32;
        launch!(stream, &add, one_block(32), &mut view, &n)?;
    }
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn halves_on_two_streams(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let (one, two) = (context.new_stream()?, context.new_stream()?);
    let add = kernel(&context, "add_one")?;
    let mut data = one.alloc_zeros::<u32>(64)?;
    {
        let (mut left, mut right) = data.split_at_mut(32);
        launch!(one, &add, one_block(32), &mut left, &32_u32)?;
        launch!(two, &add, one_block(32), &mut right, &32_u32)?;
        launch!(two, &add, one_block(32), &mut right, &16_u32)?;
    }
    t.value("data", one.clone_dtoh(&data).map(|d| (d[0], d[31], d[32], d[47], d[48], d[63])));
    t.code("left over", context.check_err());
    Ok(())
}
