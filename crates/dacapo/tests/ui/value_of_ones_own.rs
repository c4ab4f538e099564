// error: E0277
// says: Sealed
// why: only slots and baked values are values: what else would say whether it changes?
use kit::*;

struct Mine;
impl Value<f32> for Mine { //~
//+ impl Mine {
    fn into_val(self) -> dacapo::__private::Val<f32> { loop {} }
}
