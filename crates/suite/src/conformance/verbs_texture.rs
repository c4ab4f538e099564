//! Verbs of managed memory, of pools by their place, of arrays, textures and surfaces.

use std::ffi::c_void;

use dacapo_driver::CUresult;
use dacapo_driver::types::*;

use super::case::{Case, runs};
use super::names::Told;
use super::verbs::{Arg, acts, asks, makes};

/// A place of memory: its type, and which one of it.
pub(super) fn place(kind: u32, id: i32) -> CUmemLocation {
    CUmemLocation { r#type: kind, id }
}

impl Told for CUmemLocation {
    fn told(&self, _: &mut super::names::Names) -> String {
        format!("place {}.{}", self.r#type, self.id)
    }
}

acts! {
    fn prefetch(at: u64, bytes: usize, to: CUmemLocation, flags: u32, stream: CUstream) = cuMemPrefetchAsync_v2(at, bytes, to, flags, stream);
    fn prefetch_v1(at: u64, bytes: usize, to: i32, stream: CUstream) = cuMemPrefetchAsync(at, bytes, to, stream);
    fn advise(at: u64, bytes: usize, advice: u32, to: CUmemLocation) = cuMemAdvise_v2(at, bytes, advice, to);
    fn advise_v1(at: u64, bytes: usize, advice: u32, to: i32) = cuMemAdvise(at, bytes, advice, to);
    fn attach(stream: CUstream, at: u64, bytes: usize, flags: u32) = cuStreamAttachMemAsync(stream, at, bytes, flags);
    fn h_to_a(to: CUarray, offset: usize, from: u64, bytes: usize) = cuMemcpyHtoA_v2(to, offset, from as usize as *const c_void, bytes);
    fn a_to_h(to: u64, from: CUarray, offset: usize, bytes: usize) = cuMemcpyAtoH_v2(to as usize as *mut c_void, from, offset, bytes);
    fn d_to_a(to: CUarray, offset: usize, from: u64, bytes: usize) = cuMemcpyDtoA_v2(to, offset, from, bytes);
    fn a_to_d(to: u64, from: CUarray, offset: usize, bytes: usize) = cuMemcpyAtoD_v2(to, from, offset, bytes);
    fn a_to_a(to: CUarray, offset: usize, from: CUarray, from_offset: usize, bytes: usize) = cuMemcpyAtoA_v2(to, offset, from, from_offset, bytes);
    fn h_to_a_async(to: CUarray, offset: usize, from: u64, bytes: usize, stream: CUstream) = cuMemcpyHtoAAsync_v2(to, offset, from as usize as *const c_void, bytes, stream);
    fn a_to_h_async(to: u64, from: CUarray, offset: usize, bytes: usize, stream: CUstream) = cuMemcpyAtoHAsync_v2(to as usize as *mut c_void, from, offset, bytes, stream);
    fn set_pool_at(location: CUmemLocation, kind: u32, pool: CUmemoryPool) = cuMemSetMemPool(&mut { location }, kind, pool);
}

makes! {
    fn array(size: [usize; 3], format: u32, channels: u32, flags: u32) -> array: CUarray = cuArray3DCreate_v2(&mut array, &descriptor(size, format, channels, flags));
    fn flat_array(width: usize, height: usize, format: u32, channels: u32) -> array: CUarray = cuArrayCreate_v2(&mut array, &CUDA_ARRAY_DESCRIPTOR { Width: width, Height: height, Format: format, NumChannels: channels });
    fn pool_at(kind: u32, location: CUmemLocation, handles: u32) -> pool: CUmemoryPool = cuMemPoolCreate(&mut pool, &pool_properties(kind, location, handles));
}

asks! {
    fn default_pool_at(location: CUmemLocation, kind: u32) -> pool: CUmemoryPool = cuMemGetDefaultMemPool(&mut pool, &mut { location }, kind);
    fn current_pool_at(location: CUmemLocation, kind: u32) -> pool: CUmemoryPool = cuMemGetMemPool(&mut pool, &mut { location }, kind);
}

impl Told for [usize; 3] {
    fn told(&self, _: &mut super::names::Names) -> String {
        format!("{}x{}x{}", self[0], self[1], self[2])
    }
}

fn descriptor([width, height, depth]: [usize; 3], format: u32, channels: u32, flags: u32) -> CUDA_ARRAY3D_DESCRIPTOR {
    CUDA_ARRAY3D_DESCRIPTOR {
        Width: width,
        Height: height,
        Depth: depth,
        Format: format,
        NumChannels: channels,
        Flags: flags,
    }
}

fn pool_properties(kind: u32, location: CUmemLocation, handles: u32) -> CUmemPoolProps {
    CUmemPoolProps { allocType: kind, handleTypes: handles, location, ..Default::default() }
}

/// One end of a copy, as a case writes it.
#[derive(Clone, Copy)]
pub(super) enum End {
    /// Host memory: address, pitch, rows of a slice.
    Host(u64, usize, usize),
    /// An array: from these bytes, rows and slices on.
    Array(CUarray, [usize; 3]),
}

impl Told for End {
    fn told(&self, names: &mut super::names::Names) -> String {
        match self {
            End::Host(at, pitch, rows) => format!("{} pitch {pitch} rows {rows}", names.address(*at)),
            End::Array(array, [x, y, z]) => format!("{} from {x},{y},{z}", array.told(names)),
        }
    }
}

fn copy_of(to: End, from: End, [width, height, depth]: [usize; 3]) -> CUDA_MEMCPY3D {
    let mut copy = CUDA_MEMCPY3D { WidthInBytes: width, Height: height, Depth: depth, ..Default::default() };
    match from {
        End::Host(at, pitch, rows) => {
            copy.srcMemoryType = CU_MEMORYTYPE_HOST;
            copy.srcHost = at as usize as *const c_void;
            (copy.srcPitch, copy.srcHeight) = (pitch, rows);
        }
        End::Array(array, [x, y, z]) => {
            copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
            (copy.srcArray, copy.srcXInBytes, copy.srcY, copy.srcZ) = (array, x, y, z);
        }
    }
    match to {
        End::Host(at, pitch, rows) => {
            copy.dstMemoryType = CU_MEMORYTYPE_HOST;
            copy.dstHost = at as usize as *mut c_void;
            (copy.dstPitch, copy.dstHeight) = (pitch, rows);
        }
        End::Array(array, [x, y, z]) => {
            copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
            (copy.dstArray, copy.dstXInBytes, copy.dstY, copy.dstZ) = (array, x, y, z);
        }
    }
    copy
}

/// What a texture is over.
#[derive(Clone, Copy)]
pub(super) enum Over {
    Array(CUarray),
    /// Linear memory: address, bytes, format, channels.
    Linear(u64, usize, u32, u32),
    /// Rows of memory: address, width, height, pitch; words.
    Rows(u64, usize, usize, usize),
}

impl Told for Over {
    fn told(&self, names: &mut super::names::Names) -> String {
        match self {
            Over::Array(array) => array.told(names),
            Over::Linear(at, bytes, format, channels) => {
                format!("{bytes} bytes of {} as {format:#x}x{channels}", names.address(*at))
            }
            Over::Rows(at, width, height, pitch) => {
                format!("{width}x{height} words of {}, pitch {pitch}", names.address(*at))
            }
        }
    }
}

impl Over {
    fn resource(self) -> CUDA_RESOURCE_DESC {
        let mut resource = CUDA_RESOURCE_DESC::default();
        match self {
            Over::Array(array) => resource.res[0] = array.bits(),
            Over::Linear(at, bytes, format, channels) => {
                resource.resType = CU_RESOURCE_TYPE_LINEAR;
                resource.res[..3].copy_from_slice(&[at, u64::from(format) | u64::from(channels) << 32, bytes as u64]);
            }
            Over::Rows(at, width, height, pitch) => {
                resource.resType = CU_RESOURCE_TYPE_PITCH2D;
                let format = u64::from(CU_AD_FORMAT_UNSIGNED_INT32) | 1 << 32;
                resource.res[..5].copy_from_slice(&[at, format, width as u64, height as u64, pitch as u64]);
            }
        }
        resource
    }
}

/// A texture or surface object.
#[derive(Clone, Copy)]
pub(super) struct Object(pub u64);

impl Told for Object {
    fn told(&self, names: &mut super::names::Names) -> String {
        names.address(self.0)
    }
}

impl Case<'_> {
    /// `cuMemAllocManaged`
    pub(super) fn managed(&mut self, bytes: usize, flags: u32) -> u64 {
        let mut at = 0;
        // SAFETY: `at` is valid for the write.
        let code = unsafe { self.driver.cuMemAllocManaged(&mut at, bytes, flags) };
        if at != 0 {
            // SAFETY: allocated by this case, and not freed since, or it would not be kept any more.
            self.keep_raw("memory", at, move |driver| unsafe { driver.cuMemFree_v2(at) });
        }
        let name = match code.is_success() && at != 0 {
            true => self.names.new_region("managed", at, bytes as u64),
            false => "null".into(),
        };
        self.said("cuMemAllocManaged", &[bytes.to_string(), flags.to_string()], code, &name);
        at
    }

    /// `cuMemRangeGetAttribute`: one word, or two of who accesses.
    pub(super) fn range_attribute(&mut self, attribute: u32, at: u64, bytes: usize) {
        let words = if attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY { 2 } else { 1 };
        self.range_attribute_in(4 * words, attribute, at, bytes);
    }

    /// The same, with room for so many bytes, which is at most 16.
    pub(super) fn range_attribute_in(&mut self, room: usize, attribute: u32, at: u64, bytes: usize) {
        let told = [room.to_string(), attribute.to_string(), at.told(&mut self.names), bytes.to_string()];
        let mut words = [-77i32; 4];
        let out = words.as_mut_ptr().cast();
        // SAFETY: there is that much room.
        let code = unsafe { self.driver.cuMemRangeGetAttribute(out, room, attribute, at, bytes) };
        let gave = format!("{:?}", &words[..(room / 4).clamp(1, 4)]);
        self.said("cuMemRangeGetAttribute", &told, code, if code.is_success() { &gave } else { "" });
    }

    /// All that can be asked of a range.
    pub(super) fn range_attributes(&mut self, at: u64, bytes: usize) {
        for attribute in 1..=8 {
            self.range_attribute(attribute, at, bytes);
        }
    }

    /// `cuMemRangeGetAttributes` of two, with this much room for each.
    pub(super) fn range_attributes_at_once(&mut self, which: [u32; 2], room: [usize; 2], at: u64, bytes: usize) {
        let told = [format!("{which:?}"), format!("{room:?}"), at.told(&mut self.names), bytes.to_string()];
        let (mut words, mut which, mut room) = ([-77i32; 2], which, room);
        let [one, other] = &mut words;
        let mut out = [std::ptr::from_mut(one).cast::<c_void>(), std::ptr::from_mut(other).cast()];
        // SAFETY: arrays of two, and four bytes behind each pointer.
        let code = unsafe {
            self.driver.cuMemRangeGetAttributes(out.as_mut_ptr(), room.as_mut_ptr(), which.as_mut_ptr(), 2, at, bytes)
        };
        self.said("cuMemRangeGetAttributes", &told, code, &format!("{words:?}"));
    }

    /// `cuMemPrefetchBatchAsync` of one range.
    pub(super) fn prefetch_batch(&mut self, at: u64, bytes: usize, to: CUmemLocation, flags: u64, stream: CUstream) {
        let told = [at.told(&mut self.names), bytes.to_string(), to.told(&mut self.names), flags.to_string()];
        let (mut at, mut bytes, mut to, mut index) = (at, bytes, to, 0);
        // SAFETY: arrays of one.
        let code = unsafe {
            self.driver.cuMemPrefetchBatchAsync(&mut at, &mut bytes, 1, &mut to, &mut index, 1, flags, stream)
        };
        self.said("cuMemPrefetchBatchAsync", &told, code, "");
    }

    /// `cuMemDiscardBatchAsync` of one range.
    pub(super) fn discard_batch(&mut self, at: u64, bytes: usize, flags: u64, stream: CUstream) {
        let told = [at.told(&mut self.names), bytes.to_string(), flags.to_string()];
        let (mut at, mut bytes) = (at, bytes);
        // SAFETY: arrays of one.
        let code = unsafe { self.driver.cuMemDiscardBatchAsync(&mut at, &mut bytes, 1, flags, stream) };
        self.said("cuMemDiscardBatchAsync", &told, code, "");
    }

    /// `cuLibraryGetManaged`
    pub(super) fn library_managed(&mut self, library: CUlibrary, name: &str) -> u64 {
        let told = [library.told(&mut self.names), name.told(&mut self.names)];
        let (mut at, mut bytes) = (0, 0);
        let name = std::ffi::CString::new(name).unwrap_or_default();
        // SAFETY: both are valid for the write; the name ends with a NUL.
        let code = unsafe { self.driver.cuLibraryGetManaged(&mut at, &mut bytes, library, name.as_ptr()) };
        let gave = if code.is_success() { format!("{bytes} bytes") } else { String::new() };
        self.said("cuLibraryGetManaged", &told, code, &gave);
        if code.is_success() { at } else { 0 }
    }

    /// What a pool lets whoever sits at a place do.
    pub(super) fn pool_access_at(&mut self, pool: CUmemoryPool, location: CUmemLocation) {
        let (told, mut flags) = ([pool.told(&mut self.names), location.told(&mut self.names)], 0);
        // SAFETY: both are valid.
        let code = unsafe { self.driver.cuMemPoolGetAccess(&mut flags, pool, &mut { location }) };
        self.said(
            "cuMemPoolGetAccess",
            &told,
            code,
            &if code.is_success() { flags.to_string() } else { String::new() },
        );
    }

    /// `cuMemPoolSetAccess`
    pub(super) fn set_pool_access_at(&mut self, pool: CUmemoryPool, location: CUmemLocation, flags: u32) -> CUresult {
        let told = [pool.told(&mut self.names), location.told(&mut self.names), flags.to_string()];
        // SAFETY: an array of one.
        let code = unsafe { self.driver.cuMemPoolSetAccess(pool, &CUmemAccessDesc { location, flags }, 1) };
        self.said("cuMemPoolSetAccess", &told, code, "")
    }

    /// Both descriptors of an array.
    pub(super) fn descriptors(&mut self, array: CUarray) {
        let told = [array.told(&mut self.names)];
        let (mut flat, mut deep) = (CUDA_ARRAY_DESCRIPTOR::default(), CUDA_ARRAY3D_DESCRIPTOR::default());
        // SAFETY: valid for the writes.
        let codes = unsafe {
            [
                self.driver.cuArrayGetDescriptor_v2(&mut flat, array),
                self.driver.cuArray3DGetDescriptor_v2(&mut deep, array),
            ]
        };
        let gave = format!("{}x{} of {}x{}", flat.Width, flat.Height, flat.Format, flat.NumChannels);
        self.said("cuArrayGetDescriptor", &told, codes[0], &gave);
        let gave = format!(
            "{}x{}x{} of {}x{} flags {}",
            deep.Width, deep.Height, deep.Depth, deep.Format, deep.NumChannels, deep.Flags
        );
        self.said("cuArray3DGetDescriptor", &told, codes[1], &gave);
    }

    /// `cuMemcpy3D`; extents are bytes, rows and slices.
    pub(super) fn copy_array(&mut self, to: End, from: End, extent: [usize; 3]) -> CUresult {
        let told = [to.told(&mut self.names), from.told(&mut self.names), extent.told(&mut self.names)];
        // SAFETY: the case's host memory is as large as it says.
        let code = unsafe { self.driver.cuMemcpy3D_v2(&copy_of(to, from, extent)) };
        self.said("cuMemcpy3D", &told, code, "")
    }

    /// `cuGraphAddMemcpyNode`
    pub(super) fn add_array_copy(&mut self, graph: CUgraph, to: End, from: End, extent: [usize; 3]) -> CUgraphNode {
        let told = [
            graph.told(&mut self.names),
            to.told(&mut self.names),
            from.told(&mut self.names),
            extent.told(&mut self.names),
        ];
        let (mut node, copy) = (CUgraphNode::NULL, copy_of(to, from, extent));
        // SAFETY: as above; the node is valid for the write.
        let code =
            unsafe { self.driver.cuGraphAddMemcpyNode(&mut node, graph, std::ptr::null(), 0, &copy, self.context) };
        let gave = if code.is_success() { node.told(&mut self.names) } else { String::new() };
        self.said("cuGraphAddMemcpyNode", &told, code, &gave);
        node
    }

    /// What a copy node says of an array that it copies to.
    pub(super) fn array_copy_params(&mut self, node: CUgraphNode) {
        let (told, mut copy) = ([node.told(&mut self.names)], CUDA_MEMCPY3D::default());
        // SAFETY: valid for the write.
        let code = unsafe { self.driver.cuGraphMemcpyNodeGetParams(node, &mut copy) };
        let gave = format!(
            "{} pitch {} rows {}, from type {} pitch {} rows {}, {}x{}x{}",
            copy.dstArray.told(&mut self.names),
            copy.dstPitch,
            copy.dstHeight,
            copy.srcMemoryType,
            copy.srcPitch,
            copy.srcHeight,
            copy.WidthInBytes,
            copy.Height,
            copy.Depth
        );
        self.said("cuGraphMemcpyNodeGetParams", &told, code, &gave);
    }

    /// `cuTexObjectCreate`, with one address mode for all directions and the border 7, 8, 9, 10.
    pub(super) fn texture(&mut self, over: Over, mode: u32, flags: u32) -> Object {
        let how = CUDA_TEXTURE_DESC {
            addressMode: [mode; 3],
            flags,
            borderColor: [7.0, 8.0, 9.0, 10.0],
            ..Default::default()
        };
        self.texture_like(over, &how)
    }

    /// `cuTexObjectCreate`
    pub(super) fn texture_like(&mut self, over: Over, how: &CUDA_TEXTURE_DESC) -> Object {
        let told = [over.told(&mut self.names), format!("modes {:?} flags {}", how.addressMode, how.flags)];
        let (mut object, resource) = (0, over.resource());
        // SAFETY: valid in and out pointers.
        let code = unsafe { self.driver.cuTexObjectCreate(&mut object, &resource, how, std::ptr::null()) };
        let mut name = String::new();
        if code.is_success() {
            name = self.names.new_region("texture", object, 0);
            // SAFETY: made by this case; a second time does no harm.
            self.keep_raw("texture", object, move |driver| unsafe { driver.cuTexObjectDestroy(object) });
        }
        self.said("cuTexObjectCreate", &told, code, &name);
        Object(if code.is_success() { object } else { 0 })
    }

    /// `cuTexObjectDestroy`
    pub(super) fn destroy_texture(&mut self, object: Object) -> CUresult {
        let told = [object.told(&mut self.names)];
        // SAFETY: an H200 takes any number.
        let code = unsafe { self.driver.cuTexObjectDestroy(object.0) };
        self.gone("texture", object.0);
        self.said("cuTexObjectDestroy", &told, code, "")
    }

    /// What a texture says of how it reads.
    pub(super) fn texture_params(&mut self, object: Object) {
        let (told, mut how) = ([object.told(&mut self.names)], CUDA_TEXTURE_DESC::default());
        let mut resource = CUDA_RESOURCE_DESC::default();
        // SAFETY: valid for the writes.
        let codes = unsafe {
            [
                self.driver.cuTexObjectGetTextureDesc(&mut how, object.0),
                self.driver.cuTexObjectGetResourceDesc(&mut resource, object.0),
            ]
        };
        let gave = format!("modes {:?} filter {} flags {}", how.addressMode, how.filterMode, how.flags);
        self.said("cuTexObjectGetTextureDesc", &told, codes[0], if codes[0].is_success() { &gave } else { "" });
        let gave = format!("type {}", resource.resType);
        self.said("cuTexObjectGetResourceDesc", &told, codes[1], if codes[1].is_success() { &gave } else { "" });
    }

    /// `cuSurfObjectCreate`
    pub(super) fn surface(&mut self, over: Over) -> Object {
        let (told, mut object) = ([over.told(&mut self.names)], 0);
        // SAFETY: valid in and out pointers.
        let code = unsafe { self.driver.cuSurfObjectCreate(&mut object, &over.resource()) };
        let mut name = String::new();
        if code.is_success() {
            name = self.names.new_region("texture", object, 0);
            // SAFETY: made by this case.
            self.keep_raw("texture", object, move |driver| unsafe { driver.cuSurfObjectDestroy(object) });
        }
        self.said("cuSurfObjectCreate", &told, code, &name);
        Object(if code.is_success() { object } else { 0 })
    }

    /// What a kernel reads through a texture at these coordinates, four words each.
    pub(super) fn texels(&mut self, kernel: &'static str, object: Object, at: &[[u32; 4]]) {
        let (input, output) = self.coordinates(at);
        let launch = self.kernel(kernel, &[Arg::P(object.0), Arg::P(input), Arg::P(output)]).shaped(1, at.len() as u32);
        self.launch(&launch, CUstream::NULL);
        self.read(output, 4 * at.len());
    }

    /// Adds to words of a surface at these bytes and rows.
    pub(super) fn surface_add(&mut self, kernel: &'static str, object: Object, at: &[[u32; 4]], add: u32) {
        let (input, _) = self.coordinates(at);
        let launch = self.kernel(kernel, &[Arg::P(object.0), Arg::P(input), Arg::N(add)]).shaped(1, at.len() as u32);
        self.launch(&launch, CUstream::NULL);
    }

    fn coordinates(&mut self, at: &[[u32; 4]]) -> (u64, u64) {
        let words: Vec<u32> = at.iter().flatten().copied().collect();
        self.say(format!("coordinates {}", runs(&words)));
        let (input, output) = (self.words(&words), self.words(&vec![0xeeee_eeee; words.len()]));
        (input, output)
    }
}
