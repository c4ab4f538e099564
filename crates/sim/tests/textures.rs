//! Arrays, textures and surfaces: copies by every way, reads by kernels, and what is refused or reported.

mod kit;

use std::ffi::c_void;

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Driver};
use dacapo_sim::Options;
use kit::*;

const PTX: &str = r#".version 7.0
.target sm_70
.address_size 64
.visible .entry t1(.param .u64 t, .param .u64 x, .param .u64 o) {
    .reg .u64 %t, %x, %o; .reg .f32 %c, %d<4>;
    ld.param.u64 %t, [t]; ld.param.u64 %x, [x]; ld.param.u64 %o, [o];
    ld.global.f32 %c, [%x];
    tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c}];
    st.global.v4.f32 [%o], {%d0, %d1, %d2, %d3}; ret;
}
.visible .entry f1(.param .u64 t, .param .u64 x, .param .u64 o) {
    .reg .u64 %t, %x, %o; .reg .u32 %c, %d<4>;
    ld.param.u64 %t, [t]; ld.param.u64 %x, [x]; ld.param.u64 %o, [o];
    ld.global.u32 %c, [%x];
    tex.1d.v4.u32.s32 {%d0, %d1, %d2, %d3}, [%t, {%c}];
    st.global.v4.u32 [%o], {%d0, %d1, %d2, %d3}; ret;
}
.visible .entry t2(.param .u64 t, .param .u64 x, .param .u64 o) {
    .reg .u64 %t, %x, %o; .reg .f32 %c<2>; .reg .u32 %d<4>;
    ld.param.u64 %t, [t]; ld.param.u64 %x, [x]; ld.param.u64 %o, [o];
    ld.global.v2.f32 {%c0, %c1}, [%x];
    tex.2d.v4.u32.f32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1}];
    st.global.v4.u32 [%o], {%d0, %d1, %d2, %d3}; ret;
}
.visible .entry t3(.param .u64 t, .param .u64 x, .param .u64 o) {
    .reg .u64 %t, %x, %o; .reg .u32 %c<4>, %d<4>;
    ld.param.u64 %t, [t]; ld.param.u64 %x, [x]; ld.param.u64 %o, [o];
    ld.global.v4.u32 {%c0, %c1, %c2, %c3}, [%x];
    tex.3d.v4.s32.s32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1, %c2, %c3}];
    st.global.v4.u32 [%o], {%d0, %d1, %d2, %d3}; ret;
}
.visible .entry bump(.param .u64 s, .param .u64 x) {
    .reg .u64 %s, %x; .reg .u32 %c<2>, %v;
    ld.param.u64 %s, [s]; ld.param.u64 %x, [x];
    ld.global.v2.u32 {%c0, %c1}, [%x];
    mov.u32 %v, 77;
    suld.b.2d.b32.zero %v, [%s, {%c0, %c1}];
    add.u32 %v, %v, 1000;
    sust.b.2d.b32.clamp [%s, {%c0, %c1}], %v;
    ret;
}
.visible .entry trap(.param .u64 s) {
    .reg .u64 %s; .reg .u32 %v; ld.param.u64 %s, [s];
    suld.b.2d.b32.trap %v, [%s, {20, 0}];
    ret;
}
"#;

struct World {
    d: Device,
    module: CUmodule,
    input: CUdeviceptr,
    output: CUdeviceptr,
}

impl World {
    fn new(strict: bool) -> World {
        let d = Device::new(Options { strict, ..Options::default() });
        let (module, input, output) = (d.module(PTX), d.zeros(4), d.zeros(4));
        World { d, module, input, output }
    }

    fn array(&self, size: [usize; 3], format: u32, channels: u32, flags: u32) -> CUarray {
        let descriptor = CUDA_ARRAY3D_DESCRIPTOR {
            Width: size[0],
            Height: size[1],
            Depth: size[2],
            Format: format,
            NumChannels: channels,
            Flags: flags,
        };
        let mut array = CUarray::NULL;
        // SAFETY: valid in and out pointers.
        ok(unsafe { self.d.cuArray3DCreate_v2(&mut array, &descriptor) });
        array
    }

    /// Numbers from 100 on in an array of words.
    fn counted(&self, size: [usize; 3], flags: u32) -> CUarray {
        let array = self.array(size, CU_AD_FORMAT_UNSIGNED_INT32, 1, flags);
        let rows = [size[0], size[1].max(1), size[2].max(1)];
        let numbers: Vec<u32> = (100..100 + rows.iter().product::<usize>() as u32).collect();
        let copy = CUDA_MEMCPY3D {
            srcMemoryType: CU_MEMORYTYPE_HOST,
            srcHost: numbers.as_ptr().cast(),
            srcPitch: 4 * rows[0],
            srcHeight: rows[1],
            dstMemoryType: CU_MEMORYTYPE_ARRAY,
            dstArray: array,
            WidthInBytes: 4 * rows[0],
            Height: rows[1],
            Depth: rows[2],
            ..Default::default()
        };
        // SAFETY: the source has as many bytes.
        ok(unsafe { self.d.cuMemcpy3D_v2(&copy) });
        array
    }

    fn try_texture(&self, resource: &CUDA_RESOURCE_DESC, mode: u32, flags: u32) -> Result<u64, CUresult> {
        let how = CUDA_TEXTURE_DESC {
            addressMode: [mode; 3],
            flags,
            borderColor: [7.0, 8.0, 9.0, 10.0],
            ..Default::default()
        };
        let mut texture = 0;
        // SAFETY: valid in and out pointers.
        match unsafe { self.d.cuTexObjectCreate(&mut texture, resource, &how, std::ptr::null()) } {
            OK => Ok(texture),
            code => Err(code),
        }
    }

    fn texture(&self, array: CUarray, mode: u32, flags: u32) -> u64 {
        self.try_texture(&of_array(array), mode, flags).expect("the texture can be made")
    }

    /// What a kernel reads through a texture at some coordinates.
    fn read(&self, kernel: &str, texture: u64, at: &[u32]) -> Result<[u32; 4], CUresult> {
        let mut out = [0u32; 4];
        // SAFETY: the arrays are as large as said.
        unsafe {
            ok(self.d.cuMemcpyHtoD_v2(self.input, at.as_ptr().cast(), 4 * at.len()));
            ok(self.d.launch(
                self.d.function(self.module, kernel),
                CUstream::NULL,
                &[texture, self.input, self.output],
            ));
            match self.d.cuMemcpyDtoH_v2(out.as_mut_ptr().cast(), self.output, 16) {
                OK => Ok(out),
                code => Err(code),
            }
        }
    }

    fn found(&self) -> Vec<&'static str> {
        self.d.take_findings().iter().map(|finding| finding.code).collect()
    }
}

fn of_array(array: CUarray) -> CUDA_RESOURCE_DESC {
    let mut resource = CUDA_RESOURCE_DESC { resType: CU_RESOURCE_TYPE_ARRAY, ..Default::default() };
    resource.res[0] = array.bits();
    resource
}

fn of_memory(at: CUdeviceptr, bytes: u64, format: u32, channels: u64) -> CUDA_RESOURCE_DESC {
    let mut resource = CUDA_RESOURCE_DESC { resType: CU_RESOURCE_TYPE_LINEAR, ..Default::default() };
    resource.res[..3].copy_from_slice(&[at, u64::from(format) | channels << 32, bytes]);
    resource
}

const BITS: fn(f32) -> u32 = f32::to_bits;

#[test]
fn texels_of_arrays_by_coordinates_and_modes() {
    let w = World::new(true);
    let (row, plane, space) = (w.counted([5, 0, 0], 0), w.counted([5, 3, 0], 0), w.counted([4, 3, 2], 0));
    let integer = CU_TRSF_READ_AS_INTEGER;
    let clamp = w.texture(row, CU_TR_ADDRESS_MODE_CLAMP, integer);
    for (at, texel) in [(-9.5, 100), (0.0, 100), (1.99, 101), (4.5, 104), (77.0, 104), (f32::NAN, 100)] {
        assert_eq!(w.read("t1", clamp, &[BITS(at)]).map(|out| out[0]), Ok(texel), "{at}");
    }
    let border = w.texture(row, CU_TR_ADDRESS_MODE_BORDER, integer);
    assert_eq!(w.read("t1", border, &[BITS(5.0)]), Ok([BITS(7.0), 0, 0, 0]));
    let wrap = w.texture(row, CU_TR_ADDRESS_MODE_WRAP, integer | CU_TRSF_NORMALIZED_COORDINATES);
    assert_eq!(w.read("t1", wrap, &[BITS(-0.1)]).map(|out| out[0]), Ok(104));
    let flat = w.texture(plane, CU_TR_ADDRESS_MODE_CLAMP, integer);
    assert_eq!(w.read("t2", flat, &[BITS(3.5), BITS(1.5)]), Ok([108, 0, 0, 0]), "no other channels");
    let deep = w.texture(space, CU_TR_ADDRESS_MODE_CLAMP, integer);
    assert_eq!(w.read("t3", deep, &[2, 1, 1, 9]).map(|out| out[0]), Ok(118));
    assert_eq!(w.read("t3", deep, &[4, 1, 1, 9]).map(|out| out[0]), Ok(0), "outside, by integers");
    assert_eq!(w.found(), [""; 0]);
    // Ways to read that fit nothing read zeros on an H200.
    assert_eq!(w.read("f1", clamp, &[1]), Ok([0; 4]));
    assert_eq!(w.read("t2", deep, &[BITS(1.0), BITS(1.0)]), Ok([0; 4]));
    assert_eq!(w.found(), ["texture-shape"; 2]);
    assert_eq!((w.d.census().arrays, w.d.census().textures), (3, 5));
    assert_eq!(w.d.check(), []);
}

#[test]
fn linear_memory_is_read_by_numbers_of_texels() {
    let w = World::new(true);
    let memory = w.d.buffer(64);
    let bytes: [u8; 64] = std::array::from_fn(|at| at as u8 * 4);
    // SAFETY: as many bytes.
    ok(unsafe { w.d.cuMemcpyHtoD_v2(memory, bytes.as_ptr().cast(), 64) });
    let fractions = w.try_texture(&of_memory(memory, 64, CU_AD_FORMAT_UNSIGNED_INT8, 4), 0, 0).expect("made");
    assert_eq!(w.read("f1", fractions, &[2]), Ok([32.0f32, 36.0, 40.0, 44.0].map(|v| BITS(v / 255.0))));
    let signed = of_memory(memory, 64, CU_AD_FORMAT_SIGNED_INT8, 1);
    let signed = w.try_texture(&signed, 0, CU_TRSF_READ_AS_INTEGER).expect("made");
    assert_eq!(w.read("f1", signed, &[50]), Ok([200u8 as i8 as u32, 0, 0, 0]));
    for outside in [64, u32::MAX, 1 << 30] {
        assert_eq!(w.read("f1", signed, &[outside]), Ok([0; 4]));
    }
    assert_eq!(w.try_texture(&of_memory(memory + 256, 64, 1, 1), 0, 0), Err(INVALID), "not at a multiple of 512");
    assert_eq!(w.try_texture(&of_memory(memory, 64, 1, 3), 0, 0), Err(INVALID));
    assert_eq!(w.found(), [""; 0]);
    // Larger than what it is over: accepted, and seen by whoever reads there.
    let over = w.try_texture(&of_memory(memory, 4096, 3, 1), 0, 1).expect("made");
    assert_eq!(w.read("f1", over, &[16]), Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    assert_eq!(w.found(), ["out-of-bounds"]);
}

#[test]
fn surfaces_load_and_store_bytes() {
    let w = World::new(true);
    let array = w.counted([5, 3, 0], CUDA_ARRAY3D_SURFACE_LDST);
    let plain = w.counted([5, 3, 0], 0);
    let mut surface = 0;
    let mut words = [0u32; 5];
    // SAFETY: valid pointers; the target of the copy is as large.
    unsafe {
        ok(w.d.cuSurfObjectCreate(&mut surface, &of_array(plain)));
        ok(w.d.cuSurfObjectCreate(&mut surface, &of_array(array)));
        let bump = w.d.function(w.module, "bump");
        for (x, y) in [(8u32, 1u32), (400, 1)] {
            ok(w.d.cuMemcpyHtoD_v2(w.input, [x, y].as_ptr().cast(), 8));
            ok(w.d.launch(bump, CUstream::NULL, &[surface, w.input]));
            ok(w.d.cuCtxSynchronize());
        }
        let copy = CUDA_MEMCPY2D {
            srcMemoryType: CU_MEMORYTYPE_ARRAY,
            srcArray: array,
            srcY: 1,
            dstMemoryType: CU_MEMORYTYPE_HOST,
            dstHost: words.as_mut_ptr().cast(),
            dstPitch: 20,
            WidthInBytes: 20,
            Height: 1,
            ..Default::default()
        };
        ok(w.d.cuMemcpy2D_v2(&copy));
        assert_eq!(words, [105, 106, 1107, 108, 1000], "the second: zero beyond the row, and stored at its end");
        ok(w.d.launch(w.d.function(w.module, "trap"), CUstream::NULL, &[surface]));
        assert_eq!(w.d.cuCtxSynchronize(), CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    assert_eq!(w.found(), ["out-of-bounds"]);
}

#[test]
fn copies_name_arrays_by_handle_and_stay_inside() {
    let w = World::new(true);
    let (row, plane) = (w.array([16, 0, 0], CU_AD_FORMAT_FLOAT, 1, 0), w.array([16, 8, 0], CU_AD_FORMAT_FLOAT, 1, 0));
    let (data, mut back) = ([3u8; 600], [0u8; 64]);
    let device = w.d.buffer(64);
    let from = data.as_ptr().cast::<c_void>();
    // SAFETY: the arrays of this frame are as large as said.
    unsafe {
        ok(w.d.cuMemcpyHtoA_v2(row, 0, from, 64));
        ok(w.d.cuMemcpyAtoD_v2(device, row, 0, 64));
        ok(w.d.cuMemcpyDtoA_v2(plane, 0, device, 64));
        ok(w.d.cuMemcpyAtoA_v2(row, 4, plane, 8, 32));
        ok(w.d.cuMemcpyAtoHAsync_v2(back.as_mut_ptr().cast(), row, 0, 64, CUstream::NULL));
        assert_eq!(back, [3; 64]);
        ok(w.d.cuMemcpyHtoA_v2(row, 68, from, 0));
        assert_eq!(w.d.cuMemcpyHtoA_v2(row, 0, from, 65), INVALID);
        assert_eq!(w.d.cuMemcpyHtoA_v2(plane, 64, from, 64), INVALID, "only the first row is reached so");
        assert_eq!(w.d.cuMemcpyHtoA_v2(CUarray::NULL, 0, from, 4), INVALID);
        let mut whole = CUDA_MEMCPY2D {
            srcMemoryType: CU_MEMORYTYPE_HOST,
            srcHost: from,
            srcPitch: 64,
            dstMemoryType: CU_MEMORYTYPE_ARRAY,
            dstArray: plane,
            WidthInBytes: 64,
            Height: 8,
            ..Default::default()
        };
        ok(w.d.cuMemcpy2D_v2(&whole));
        whole.dstY = 1;
        assert_eq!(w.d.cuMemcpy2D_v2(&whole), INVALID);
        ok(w.d.cuArrayDestroy(row));
        assert_eq!(w.d.cuMemcpyHtoA_v2(row, 0, from, 4), INVALID);
        assert_eq!(w.d.cuArrayDestroy(CUarray::NULL), CUresult::CUDA_ERROR_INVALID_HANDLE);
    }
    assert_eq!(w.found(), ["out-of-bounds", "out-of-bounds", "out-of-bounds", "destroyed-array"]);
}

#[test]
fn a_node_copies_into_an_array_and_says_so() {
    let w = World::new(true);
    let array = w.array([8, 4, 3], CU_AD_FORMAT_FLOAT, 2, 0);
    let data = vec![1.5f32; 192];
    let (graph, mut node, mut said) = (w.d.graph(), CUgraphNode::NULL, CUDA_MEMCPY3D::default());
    let mut copy = CUDA_MEMCPY3D {
        srcMemoryType: CU_MEMORYTYPE_HOST,
        srcHost: data.as_ptr().cast(),
        srcPitch: 64,
        srcHeight: 4,
        dstMemoryType: CU_MEMORYTYPE_ARRAY,
        dstArray: array,
        WidthInBytes: 64,
        Height: 4,
        Depth: 3,
        ..Default::default()
    };
    // SAFETY: valid pointers; the source outlives the launch.
    unsafe {
        ok(w.d.cuGraphAddMemcpyNode(&mut node, graph, std::ptr::null(), 0, &copy, w.d.context));
        ok(w.d.cuGraphMemcpyNodeGetParams(node, &mut said));
        assert_eq!((said.dstArray, said.dstPitch, said.dstHeight), (array, 0, 0));
        assert_eq!((said.srcPitch, said.srcHeight, said.Depth), (64, 4, 3));
        copy.Depth = 4;
        assert_eq!(w.d.cuGraphAddMemcpyNode(&mut node, graph, std::ptr::null(), 0, &copy, w.d.context), INVALID);
        ok(w.d.cuGraphLaunch(w.d.instantiate(graph), CUstream::NULL));
        let mut back = [0f32; 16];
        ok(w.d.cuMemcpyAtoH_v2(back.as_mut_ptr().cast(), array, 0, 64));
        assert_eq!(back, [1.5; 16]);
    }
}

#[test]
fn what_a_texture_reads_must_be_there() {
    let w = World::new(true);
    let array = w.counted([5, 3, 0], 0);
    let texture = w.texture(array, CU_TR_ADDRESS_MODE_CLAMP, 1);
    // SAFETY: a live handle.
    ok(unsafe { w.d.cuArrayDestroy(array) });
    assert_eq!(w.read("t2", texture, &[0, 0]), Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    assert_eq!(w.found(), ["use-after-free"]);
    let w = World::new(true);
    let fresh = w.array([4, 4, 0], CU_AD_FORMAT_FLOAT, 1, 0);
    let texture = w.texture(fresh, CU_TR_ADDRESS_MODE_CLAMP, 0);
    assert_eq!(w.read("t2", texture, &[0, 0]), Ok([0; 4]));
    assert_eq!(w.found(), ["uninitialised-read"]);
    // SAFETY: a live handle.
    ok(unsafe { w.d.cuTexObjectDestroy(texture) });
    assert_eq!(w.read("t2", texture, &[0, 0]), Err(CUresult::CUDA_ERROR_ILLEGAL_ADDRESS));
    assert_eq!(w.found(), ["texture-object"]);
    // A GPU reads zeros through what is no object.
    let w = World::new(false);
    assert_eq!(w.read("t2", 12_345, &[0, 0]), Ok([0; 4]));
    assert_eq!(w.found(), ["texture-object"]);
}

#[test]
fn what_is_not_there_says_so() {
    let w = World::new(true);
    let plane = w.counted([5, 3, 0], 0);
    let how = CUDA_TEXTURE_DESC { filterMode: CU_TR_FILTER_MODE_LINEAR, ..Default::default() };
    let (mut texture, mut array) = (0, CUarray::NULL);
    let mut descriptor = CUDA_ARRAY3D_DESCRIPTOR {
        Width: 4,
        Height: 4,
        Depth: 6,
        Format: 32,
        NumChannels: 1,
        Flags: CUDA_ARRAY3D_LAYERED,
    };
    // SAFETY: valid pointers.
    unsafe {
        assert_eq!(w.d.cuTexObjectCreate(&mut texture, &of_array(plane), &how, std::ptr::null()), NOT_SUPPORTED);
        assert_eq!(w.d.cuArray3DCreate_v2(&mut array, &descriptor), NOT_SUPPORTED);
        descriptor.Flags = 0;
        descriptor.Format = 0x91;
        assert_eq!(w.d.cuArray3DCreate_v2(&mut array, &descriptor), NOT_SUPPORTED);
        descriptor.Format = 4;
        assert_eq!(w.d.cuArray3DCreate_v2(&mut array, &descriptor), INVALID);
    }
    assert_eq!(w.found(), ["unsupported"; 3]);
}

#[test]
fn an_array_is_destroyed_after_the_work_that_was_queued() {
    for seed in 0..8 {
        let d = Device::new(Options { seed, ..Options::default() });
        let (module, input, output) = (d.module(PTX), d.zeros(4), d.zeros(4));
        let w = World { d, module, input, output };
        let array = w.counted([5, 3, 0], CUDA_ARRAY3D_SURFACE_LDST);
        let mut surface = 0;
        // SAFETY: valid pointers and live handles.
        unsafe {
            ok(w.d.cuSurfObjectCreate(&mut surface, &of_array(array)));
            let stream = w.d.stream_with(CU_STREAM_NON_BLOCKING);
            ok(w.d.launch(w.d.function(w.module, "bump"), stream, &[surface, w.input]));
            ok(w.d.cuArrayDestroy(array));
            ok(w.d.cuCtxSynchronize());
        }
        assert_eq!(w.found(), [""; 0], "seed {seed}");
    }
}

#[test]
fn an_array_takes_the_memory_there_is_and_an_object_answers_to_its_own_calls() {
    let d = Device::new(Options { capacity: 4 << 20, ..Options::default() });
    let descriptor = CUDA_ARRAY_DESCRIPTOR { Width: 2048, Height: 2048, Format: CU_AD_FORMAT_FLOAT, NumChannels: 1 };
    let mut large = CUarray::NULL;
    // SAFETY: valid in and out pointers.
    unsafe {
        assert_eq!(d.cuArrayCreate_v2(&mut large, &descriptor), CUresult::CUDA_ERROR_OUT_OF_MEMORY);
        ok(d.cuArrayCreate_v2(&mut large, &CUDA_ARRAY_DESCRIPTOR { Height: 64, ..descriptor }));
    }
    let w = World::new(true);
    let array = w.counted([5, 3, 0], 0);
    let (texture, mut surface) = (w.texture(array, CU_TR_ADDRESS_MODE_CLAMP, 1), 0);
    let mut resource = CUDA_RESOURCE_DESC::default();
    // SAFETY: valid in and out pointers.
    unsafe {
        ok(w.d.cuSurfObjectCreate(&mut surface, &of_array(array)));
        ok(w.d.cuTexObjectGetResourceDesc(&mut resource, texture));
        ok(w.d.cuSurfObjectGetResourceDesc(&mut resource, surface));
        assert_eq!(w.d.cuTexObjectGetResourceDesc(&mut resource, surface), INVALID);
        assert_eq!(w.d.cuSurfObjectGetResourceDesc(&mut resource, texture), INVALID);
    }
}

/// As an H200 was seen to do: what this kind of resource does not have stays as the program left it.
#[test]
fn a_description_is_written_as_far_as_its_kind_goes() {
    let w = World::new(true);
    let texture = w.texture(w.counted([5, 3, 0], 0), CU_TR_ADDRESS_MODE_CLAMP, 1);
    let (mut resource, mut sampling) =
        ([0x55u8; size_of::<CUDA_RESOURCE_DESC>()], [0x55u8; size_of::<CUDA_TEXTURE_DESC>()]);
    let mut view = [0x55u8; size_of::<CUDA_RESOURCE_VIEW_DESC>()];
    // SAFETY: out pointers with room for what is written.
    unsafe {
        ok(w.d.cuTexObjectGetResourceDesc(resource.as_mut_ptr().cast(), texture));
        ok(w.d.cuTexObjectGetTextureDesc(sampling.as_mut_ptr().cast(), texture));
        ok(w.d.cuTexObjectGetResourceViewDesc(view.as_mut_ptr().cast(), texture));
    }
    let touched = |bytes: &[u8]| (0..bytes.len()).filter(|at| bytes[*at] != 0x55).collect::<Vec<_>>();
    assert_eq!(touched(&resource), (0..4).chain(8..16).chain(136..140).collect::<Vec<_>>());
    assert_eq!(touched(&sampling), (0..40).collect::<Vec<_>>());
    assert_eq!(touched(&view), []);
}
