// error: E0277
// says: `Wide` is not plain data that a GPU can hold
// why: what a kernel is given is the bytes of plain data, never what a type of one's own writes
// where: anywhere
use dacapo::__private::{Args, ToArg};
use kit::*;

#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Wide(u64);

impl TryFrom<usize> for Wide {
    type Error = ();
    fn try_from(len: usize) -> std::result::Result<Wide, ()> {
        Ok(Wide(len as u64))
    }
}

impl ToArg for Wide { fn put(&self, _: &mut Args) {} fn show(&self, _: &str) -> Option<String> { None } } //~
//+ unsafe impl bytemuck::Zeroable for Wide {} unsafe impl bytemuck::Pod for Wide {} impl dacapo::Pod for Wide {}

dacapo::kernels! {
    pub unsafe struct Own {
        fn clear(n: Wide = y.len(), y: &mut [f32]) { grid: linear(y.len(), 256); }
    }
}
