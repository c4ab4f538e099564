//! Texts to an image, for whoever stands before a compiler or a linker of NVIDIA's.

use dacapo_ptx::link::{self, LinkError, Text};

use crate::calls::jit::{self, PROVIDED, SM};
use crate::fatbin::{LINKED, Packing, Written, write};

/// Does a text begin as PTX does?
pub fn is_ptx(text: &[u8]) -> bool {
    jit::is_ptx(text)
}

fn refused(refusal: jit::Refusal) -> String {
    refusal.finding.map_or_else(|| refusal.code.to_string(), |found| found.what)
}

/// Is `text` PTX that the driver would take?
///
/// # Errors
///
/// What is wrong with it, as people read it.
pub fn check_text(text: &[u8], name: &str) -> Result<(), String> {
    jit::module_of(text, name).map(|_| ()).map_err(refused)
}

/// An image of these texts, each with its name, that the driver loads as one module.
///
/// ```
/// let head = ".version 8.0 .target sm_70 .address_size 64";
/// let image = dacapo_sim::linked_image(&[("a.ptx".to_string(), head.as_bytes().to_vec())])?;
/// assert!(dacapo_sim::fatbin::is_linked(&image));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
///
/// What is wrong with one of them, or between them, as people read it.
pub fn linked_image(texts: &[(String, Vec<u8>)]) -> Result<Vec<u8>, String> {
    let mut parsed = Vec::new();
    for (name, text) in texts {
        parsed.push(Text { name: name.clone(), module: jit::module_of(text, name).map_err(refused)? });
    }
    link::link(parsed, PROVIDED)
        .map_err(|errors| errors.iter().map(LinkError::to_string).collect::<Vec<_>>().join("\n"))?;
    let entries: Vec<Written<'_>> = texts
        .iter()
        .map(|(name, stored)| Written {
            kind: 1,
            architecture: SM,
            flags: LINKED,
            name,
            stored,
            packing: Packing::Plain,
        })
        .collect();
    Ok(write(&entries))
}
