// error: E0277
// says: `Reads` and `Writes` are implemented by dacapo only
// why: unsafe work relies on all methods of these traits to tell of the same memory
use kit::*;

/// The same methods.
pub trait Alike {
    type At<'a>;
    type Raw;
    fn raw(places: &mut dyn Iterator<Item = (u64, usize)>) -> Self::Raw;
    fn access(&self, into: &mut Vec<dacapo::__private::Access>);
    unsafe fn stand_in<'a>(&self, new: &mut dyn FnMut(usize) -> Result<usize>) -> Result<Self::At<'a>>;
    fn access_at(at: &Self::At<'_>, into: &mut Vec<dacapo::__private::Access>);
}

pub struct Mine<'x>(&'x Slice<f32>);

impl Reads for Mine<'_> { //~
    //+ impl Alike for Mine<'_> {
    type At<'a> = ();
    type Raw = ();
    fn raw(_: &mut dyn Iterator<Item = (u64, usize)>) {}
    fn access(&self, into: &mut Vec<dacapo::__private::Access>) {}
    unsafe fn stand_in<'a>(&self, new: &mut dyn FnMut(usize) -> Result<usize>) -> Result<Self::At<'a>> {
        Ok(())
    }
    fn access_at(_: &(), _: &mut Vec<dacapo::__private::Access>) {}
}
