//! A program with its variables in memory.
//!
//! Each global and each constant variable is an allocation of its own, so that running off its end is seen. PTX says
//! that variables without an initialiser are zero (PTX ISA, "Initializers"), so all of them count as initialised.

use std::collections::HashMap;
use std::sync::Arc;

use dacapo_ptx::ir;

use super::Program;
use crate::memory::home::Home;
use crate::memory::{Kind, Memory, OutOfMemory, Request};

/// A [`Program`] whose global and constant variables have addresses and their initial contents.
pub struct Image {
    program: Arc<Program>,
    /// Address of each module variable; 0 for those in other spaces.
    addresses: Vec<u64>,
    constants: Vec<(u64, u64)>,
    by_name: HashMap<String, u32>,
}

impl Image {
    /// The program, to hold on to.
    pub(crate) fn shared_program(&self) -> Arc<Program> {
        Arc::clone(&self.program)
    }

    /// Allocates and initialises the variables of `program`.
    ///
    /// # Errors
    ///
    /// When memory is short; nothing stays allocated then.
    pub fn place(program: Arc<Program>, memory: &mut Memory) -> Result<Image, OutOfMemory> {
        Image::place_for(Home::default(), program, memory)
    }

    /// As [`Image::place`], for whom it says.
    ///
    /// # Errors
    ///
    /// As those of [`Image::place`].
    pub(crate) fn place_for(home: Home, program: Arc<Program>, memory: &mut Memory) -> Result<Image, OutOfMemory> {
        let mut image = Image { addresses: Vec::new(), constants: Vec::new(), by_name: HashMap::new(), program };
        let program = Arc::clone(&image.program);
        for (i, v) in program.module.variables.iter().enumerate() {
            if !matches!(v.space, ir::Space::Global | ir::Space::Const) {
                image.addresses.push(0);
                continue;
            }
            let request = Request { bytes: v.size, align: v.align.into(), kind: Kind::Module, label: &v.name };
            // A managed one lies where the host can reach it too.
            let placed = match v.managed && v.size > 0 {
                true => memory.alloc_managed(v.size, &v.name),
                false => memory.alloc_for(home, request),
            };
            match placed {
                Ok(address) => {
                    image.addresses.push(address);
                    if v.space == ir::Space::Const {
                        image.constants.push((address, address + v.size));
                    }
                    image.by_name.insert(v.name.clone(), i as u32);
                }
                Err(error) => {
                    image.remove(memory);
                    return Err(error);
                }
            }
        }
        for (i, v) in program.module.variables.iter().enumerate() {
            let start = image.addresses[i];
            if start != 0 {
                memory.mark_initialised(start);
                image.initialise(memory, start, v);
            }
        }
        Ok(image)
    }

    fn initialise(&self, memory: &mut Memory, start: u64, v: &ir::Variable) {
        let mut at = start;
        for piece in &v.init {
            let (value, len) = match piece {
                ir::Init::Bytes(bytes) => {
                    // A parser that let an initialiser run over its variable would be wrong; the excess is dropped.
                    let room = (start + v.size).saturating_sub(at) as usize;
                    let _ = memory.write(at, &bytes[..bytes.len().min(room)]);
                    at += bytes.len() as u64;
                    continue;
                }
                ir::Init::Address { variable: ir::VariableRef::Module(index), addend, bytes, .. } => {
                    let base = self.addresses.get(*index as usize).copied().unwrap_or(0);
                    (base.wrapping_add_signed(*addend), *bytes)
                }
                ir::Init::Address { bytes, .. } => (0, *bytes),
                ir::Init::Function { function, bytes } => (super::function_address(function.0), *bytes),
            };
            let _ = memory.write(at, &value.to_le_bytes()[..usize::from(len.min(8))]);
            at += u64::from(len);
        }
    }

    /// Address and size of the global or constant variable called `name`.
    pub fn variable(&self, name: &str) -> Option<(u64, u64)> {
        let &i = self.by_name.get(name)?;
        Some((self.addresses[i as usize], self.program.module.variables[i as usize].size))
    }

    /// Where constant variables begin and end.
    pub(super) fn constants(&self) -> &[(u64, u64)] {
        &self.constants
    }

    /// Addresses and sizes of the variables that are in memory.
    pub fn variables(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let sizes = self.program.module.variables.iter().map(|variable| variable.size);
        self.addresses.iter().copied().zip(sizes).filter(|(address, size)| *address != 0 && *size != 0)
    }

    /// Frees the variables. Launches of this image fault from now on when they touch one.
    pub fn remove(&self, memory: &mut Memory) {
        for &address in self.addresses.iter().filter(|&&a| a != 0) {
            memory.free(address);
        }
    }

    /// The program.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Address of module variable `index`; 0 for one that is not in memory.
    pub(super) fn address(&self, index: u32) -> u64 {
        self.addresses.get(index as usize).copied().unwrap_or(0)
    }
}
