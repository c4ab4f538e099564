// error: E0117
// why: the orphan rule keeps plain numbers out
use kit::*;

impl Value<f32> for f32 {} //~
//+
