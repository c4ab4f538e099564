//! Functions: attributes that the text decides, and occupancy where only documented limits count.

use cudarc::driver::{CudaContext, DriverError, LaunchConfig, result, sys};
use sys::CUfunction_attribute_enum as Attribute;

use crate::kernels::{kernel, one_block};
use crate::transcript::{Outcome, Transcript, launch, raw, scenarios};

scenarios!("functions",
    right: [attributes, cache_config, occupancy, occupancy_with_shared_memory, potential_block_size],
    mistaken: [dynamic_shared_memory, too_much_shared_memory, read_only_attributes, occupancy_of_bad_blocks]);

fn attributes(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    for name in ["add_one", "bounded", "scale", "reverse"] {
        let function = kernel(&context, name)?;
        t.value(&format!("{name} shared"), function.shared_size_bytes());
        t.value(&format!("{name} constant"), function.const_size_bytes());
        t.value(&format!("{name} local"), function.local_size_bytes());
        t.value(&format!("{name} threads"), function.max_threads_per_block());
        t.value(&format!("{name} ptx"), function.ptx_version());
        t.value(&format!("{name} binary"), function.binary_version());
        let dynamic = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        t.value(&format!("{name} dynamic"), function.get_attribute(dynamic));
        t.value(&format!("{name} uses registers"), function.num_regs().map(|registers| registers > 0));
    }
    Ok(())
}

fn dynamic_shared_memory(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let stream = context.new_stream()?;
    let reverse = kernel(&context, "reverse")?;
    let mut data = stream.clone_htod(&[1_u32, 2, 3, 4])?;
    let config = |bytes| LaunchConfig { shared_mem_bytes: bytes, ..one_block(4) };
    t.code("48 KiB", launch!(stream, &reverse, config(48 << 10), &mut data));
    t.value("data", stream.clone_dtoh(&data));
    t.code("100 KiB, not asked for", launch!(stream, &reverse, config(100 << 10), &mut data));
    let dynamic = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    t.code("ask for them", reverse.set_attribute(dynamic, 100 << 10));
    t.value("attribute", reverse.get_attribute(dynamic));
    t.code("100 KiB", launch!(stream, &reverse, config(100 << 10), &mut data));
    t.value("data", stream.clone_dtoh(&data));
    Ok(())
}

fn cache_config(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let function = kernel(&context, "add_one")?;
    t.code("prefer L1", function.set_function_cache_config(sys::CUfunc_cache_enum::CU_FUNC_CACHE_PREFER_L1));
    t.code("carveout", function.set_attribute(Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    t.value("carveout", function.get_attribute(Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT));
    Ok(())
}

fn occupancy(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let function = kernel(&context, "count")?;
    for threads in [1, 32, 64, 65, 128, 256, 512, 768, 1024] {
        t.value(
            &format!("{threads} threads"),
            function.occupancy_max_active_blocks_per_multiprocessor(threads, 0, None),
        );
    }
    let handle = function.cu_function();
    t.value("result layer", raw!(result::occupancy::max_active_block_per_multiprocessor(handle, 256, 0)));
    Ok(())
}

fn occupancy_with_shared_memory(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let function = kernel(&context, "count")?;
    for bytes in [1024, 10_000, 20_000, 40_000] {
        t.value(&format!("{bytes} bytes"), function.occupancy_max_active_blocks_per_multiprocessor(128, bytes, None));
    }
    for blocks in [1, 2, 8] {
        t.value(
            &format!("room with {blocks} blocks"),
            function.occupancy_available_dynamic_smem_per_block(blocks, 128),
        );
    }
    Ok(())
}

extern "C" fn no_shared_memory(_threads: i32) -> usize {
    0
}

fn potential_block_size(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let function = kernel(&context, "count")?;
    t.value("no limit", function.occupancy_max_potential_block_size(no_shared_memory, 0, 0, None));
    t.value("at most 128", function.occupancy_max_potential_block_size(no_shared_memory, 0, 128, None));
    let bounded = kernel(&context, "bounded")?;
    t.value("bounded", bounded.occupancy_max_potential_block_size(no_shared_memory, 0, 0, None));
    Ok(())
}

fn too_much_shared_memory(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let function = kernel(&context, "reverse")?;
    let dynamic = Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    t.code("227 KiB", function.set_attribute(dynamic, 227 << 10));
    t.code("one byte more", function.set_attribute(dynamic, (227 << 10) + 1));
    t.code("negative", function.set_attribute(dynamic, -1));
    t.value("attribute", function.get_attribute(dynamic));
    Ok(())
}

fn read_only_attributes(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let function = kernel(&context, "reverse")?;
    for attribute in [Attribute::CU_FUNC_ATTRIBUTE_NUM_REGS, Attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] {
        t.code(&format!("{attribute:?}"), function.set_attribute(attribute, 8));
    }
    let carveout = Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
    t.code("carveout of 101", function.set_attribute(carveout, 101));
    t.code("carveout of -2", function.set_attribute(carveout, -2));
    Ok(())
}

fn occupancy_of_bad_blocks(t: &mut Transcript) -> Outcome {
    let context = CudaContext::new(0)?;
    let function = kernel(&context, "count")?;
    let ask = |threads, bytes| -> Result<u32, DriverError> {
        function.occupancy_max_active_blocks_per_multiprocessor(threads, bytes, None)
    };
    t.value("no threads", ask(0, 0));
    t.value("1025 threads", ask(1025, 0));
    t.value("a mebibyte", ask(32, 1 << 20));
    t.value(
        "bounded, 256 threads",
        kernel(&context, "bounded")?.occupancy_max_active_blocks_per_multiprocessor(256, 0, None),
    );
    Ok(())
}
