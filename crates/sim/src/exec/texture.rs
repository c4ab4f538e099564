//! Reads through textures, and loads and stores through surfaces, lane by lane.
//!
//! Texels are looked at for initialisation. Races and unordered accesses are not looked for here: an access through a texture
//! or a surface is unknown to those detectors.

use super::access::{get_lane, lanes, put_lane};
use super::lanes::Regs;
use super::launch::Fault;
use super::machine::{Machine, Stop};
use super::op::{Outside, TexelKind, TexelOp};
use super::warp::Fragment;
use crate::memory::texture::{Shape, Texture};

/// Where a lane's texel is.
enum Found {
    At([u64; 3]),
    Border,
    /// Outside, where zeros are.
    Zero,
}

impl Machine<'_> {
    /// Runs access `index`.
    #[inline(never)]
    pub(super) fn texel(&mut self, index: u32, regs: &mut Regs<'_>, fragment: &Fragment, mask: u32) -> Stop<()> {
        let op = &self.code.texels[index as usize];
        self.progress.effects += u64::from(matches!(op.kind, TexelKind::Store(_)));
        for lane in lanes(mask) {
            let handle = regs.r64[op.handle as usize][lane];
            let Some(texture) = self.memory.texture(handle).cloned() else {
                self.no_texture(op, handle, lane, regs, fragment)?;
                continue;
            };
            self.is_there(&texture, lane, fragment)?;
            match op.kind {
                TexelKind::Read { float } => self.read_texel(op, &texture, float, lane, regs, fragment)?,
                TexelKind::Load(outside) => self.access_surface(op, &texture, outside, false, lane, regs, fragment)?,
                TexelKind::Store(outside) => self.access_surface(op, &texture, outside, true, lane, regs, fragment)?,
            }
        }
        Ok(())
    }

    /// A handle that names nothing: zeros on an H200, as long as it is a small number.
    fn no_texture(
        &mut self,
        op: &TexelOp,
        handle: u64,
        lane: usize,
        regs: &mut Regs<'_>,
        fragment: &Fragment,
    ) -> Stop<()> {
        let what = format!("goes through {handle:#x}, which is no texture or surface object, or a destroyed one");
        let help = "pass what cuTexObjectCreate or cuSurfObjectCreate has given, and destroy it after the last kernel";
        if !self.memory.lets_pass() {
            return Err(self.fault(Fault::IllegalAddress, "texture-object", fragment.pc, lane, &what, help));
        }
        self.note("texture-object", fragment.pc, lane, &what, help);
        if !matches!(op.kind, TexelKind::Store(_)) {
            op.values.iter().for_each(|value| put_lane(regs, value, lane, 0));
        }
        Ok(())
    }

    /// An array may be destroyed while a texture over it lives.
    fn is_there(&self, texture: &Texture, lane: usize, fragment: &Fragment) -> Stop<()> {
        let Some(generation) = texture.generation else { return Ok(()) };
        if self.memory.containing(texture.base).is_some_and(|found| found.generation == generation) {
            return Ok(());
        }
        let what = "goes through a texture or surface object whose array is destroyed";
        let help = "destroy the array after the last kernel that reads it";
        Err(self.fault(Fault::IllegalAddress, "use-after-free", fragment.pc, lane, what, help))
    }

    fn read_texel(
        &mut self,
        op: &TexelOp,
        texture: &Texture,
        float: bool,
        lane: usize,
        regs: &mut Regs<'_>,
        fragment: &Fragment,
    ) -> Stop<()> {
        let at = [0, 1, 2].map(|axis| if axis < op.dimensions { regs.r32[op.at[axis] as usize][lane] } else { 0 });
        let numbers = match find(op, texture, float, at) {
            Ok(Found::At(texel)) => {
                let address = texture.address(texel);
                let mut raw = [0; 16];
                let raw = &mut raw[..texture.texel() as usize];
                self.read_bytes(address, raw, lane, fragment)?;
                texture.numbers(raw)
            }
            Ok(Found::Border) => texture.border(),
            Ok(Found::Zero) => [0; 4],
            Err(why) => {
                let help = "use the instruction, and the coordinates, that the texture was made for";
                self.note("texture-shape", fragment.pc, lane, &format!("{why}; it reads zeros"), help);
                [0; 4]
            }
        };
        for (value, bits) in op.values.iter().zip(numbers) {
            put_lane(regs, value, lane, bits.into());
        }
        Ok(())
    }

    /// Reads a texel, and reports one that is not there, or that nobody has written.
    fn read_bytes(&mut self, address: u64, raw: &mut [u8], lane: usize, fragment: &Fragment) -> Stop<()> {
        if let Err(error) = self.memory.read(address, raw) {
            let what = format!("reads {} bytes through a texture at {address:#x}, {}", raw.len(), error.what);
            let help = "let the texture cover no more than the allocation, and free that after the last kernel";
            let owner = self.memory.passes(address, raw.len() as u64);
            let Some(owner) = owner else {
                return Err(self.fault(Fault::IllegalAddress, "out-of-bounds", fragment.pc, lane, &what, help));
            };
            self.note("out-of-bounds", fragment.pc, lane, &what, help);
            self.memory.read_beyond(owner, address, raw);
        } else if self.uninitialised && !self.memory.initialised(address, raw.len() as u64) {
            let place = self.memory.describe(address);
            let what = format!("reads a texel that nothing has written, at {address:#x}, {place}");
            self.note("uninitialised-read", fragment.pc, lane, &what, "write the texels first: a copy, or a surface");
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments, reason = "one lane of one instruction")]
    fn access_surface(
        &mut self,
        op: &TexelOp,
        texture: &Texture,
        outside: Outside,
        stores: bool,
        lane: usize,
        regs: &mut Regs<'_>,
        fragment: &Fragment,
    ) -> Stop<()> {
        let dimensions = match texture.shape {
            Shape::Image(dimensions) if texture.is_surface => usize::from(dimensions),
            _ => 0,
        };
        if dimensions != op.dimensions {
            let what = format!("uses a surface of {dimensions} dimensions as one of {}", op.dimensions);
            let help = "use the instruction that the surface's array was made for";
            return Err(self.fault(Fault::IllegalAddress, "texture-shape", fragment.pc, lane, &what, help));
        }
        let total = u64::from(op.bytes) * op.values.len() as u64;
        let row = texture.size[0] * texture.texel();
        let mut at = [0, 1, 2].map(|axis| match axis < op.dimensions {
            true => i64::from(regs.r32[op.at[axis] as usize][lane].cast_signed()),
            false => 0,
        });
        if at[0].rem_euclid(total as i64) != 0 {
            let what = format!("touches {total} bytes of a surface at byte {} of a row", at[0]);
            let help = "the first coordinate of a surface counts bytes, and is a multiple of what is accessed";
            return Err(self.fault(Fault::MisalignedAddress, "misaligned", fragment.pc, lane, &what, help));
        }
        let most = [row as i64 - total as i64, texture.size[1] as i64 - 1, texture.size[2] as i64 - 1];
        let inside = at.iter().zip(most).all(|(at, most)| (0..=most).contains(at));
        match (inside, outside) {
            (true, _) => {}
            (false, Outside::Trap) => {
                let what =
                    format!("touches a surface at byte {}, row {}, slice {}, outside of it", at[0], at[1], at[2]);
                let help = "compare the coordinates with the array's size; the first one counts bytes, not texels";
                return Err(self.fault(Fault::IllegalAddress, "out-of-bounds", fragment.pc, lane, &what, help));
            }
            (false, Outside::Zero) => {
                if !stores {
                    op.values.iter().for_each(|value| put_lane(regs, value, lane, 0));
                }
                return Ok(());
            }
            (false, Outside::Clamp) => {
                at.iter_mut().zip(most).for_each(|(at, most)| *at = (*at).clamp(0, most.max(0)));
            }
        }
        let address = texture.base + at[2] as u64 * texture.slice + at[1] as u64 * texture.pitch + at[0] as u64;
        let bytes = usize::from(op.bytes);
        let mut raw = [0; 32];
        if stores {
            for (piece, value) in raw.chunks_exact_mut(bytes).zip(&op.values) {
                piece.copy_from_slice(&get_lane(regs, value, lane).to_le_bytes()[..bytes]);
            }
            // The array is there, and the place is inside.
            let _ = self.memory.write(address, &raw[..total as usize]);
            return Ok(());
        }
        self.read_bytes(address, &mut raw[..total as usize], lane, fragment)?;
        for (piece, value) in raw.chunks_exact(bytes).zip(&op.values) {
            let mut word = [0; 8];
            word[..bytes].copy_from_slice(piece);
            put_lane(regs, value, lane, u64::from_le_bytes(word));
        }
        Ok(())
    }
}

/// The texel that coordinates name, as an H200 finds it; an error where it reads zeros because nothing fits.
fn find(op: &TexelOp, texture: &Texture, float: bool, at: [u32; 3]) -> Result<Found, String> {
    let said = if float { "numbers with a point" } else { "integers" };
    match texture.shape {
        Shape::Linear if op.dimensions == 1 && !float => {
            let inside = u64::from(at[0]) < texture.size[0] && at[0].cast_signed() >= 0;
            Ok(if inside { Found::At([at[0].into(), 0, 0]) } else { Found::Zero })
        }
        Shape::Linear => Err(format!("reads linear memory as a texture of {} dimensions by {said}", op.dimensions)),
        Shape::Image(_) if texture.is_surface => Err("reads a surface as a texture".to_string()),
        // A row is read by two coordinates as well.
        Shape::Image(has) if float && (usize::from(has) == op.dimensions || has == 1 && op.dimensions == 2) => {
            let mut texel = [0; 3];
            for axis in 0..op.dimensions {
                match texture.index(axis, f32::from_bits(at[axis])) {
                    Some(index) => texel[axis] = index,
                    None => return Ok(Found::Border),
                }
            }
            Ok(Found::At(texel))
        }
        Shape::Image(has) if !float && usize::from(has) == op.dimensions && has > 1 => {
            let inside = at.iter().zip(texture.size).all(|(at, size)| at.cast_signed() >= 0 && u64::from(*at) < size);
            Ok(if inside { Found::At(at.map(u64::from)) } else { Found::Zero })
        }
        Shape::Image(1) if op.dimensions == 1 => {
            Err("reads an array of one row by integers, as only linear memory can be read".to_string())
        }
        Shape::Image(has) => Err(format!("reads a texture of {has} dimensions as one of {} by {said}", op.dimensions)),
    }
}
