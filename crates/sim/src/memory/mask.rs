//! A mask of lanes as vector code wants it.

/// For each of 8 lanes all bits, or none: by which of them are active.
static EIGHT_LANES: [[i32; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let mut lane = 0;
        while lane < 8 {
            table[mask][lane] = -((mask >> lane & 1) as i32);
            lane += 1;
        }
        mask += 1;
    }
    table
};

/// The lanes `8 * eight..` of `mask`, each as all bits or none. Looked up: what is computed of a mask, compilers make no
/// good vector code of.
#[inline(always)]
pub(crate) fn eight_lanes(mask: u32, eight: usize) -> &'static [i32; 8] {
    &EIGHT_LANES[(mask >> (8 * eight) & 0xff) as usize]
}
