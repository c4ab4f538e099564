//! PTX text to a program, as the driver compiles it at load: what is accepted, what is refused and with which code.
#![allow(clippy::missing_safety_doc, reason = "stated once, in calls/mod.rs")]

use std::ffi::{CStr, c_void};

use dacapo_driver::CUresult;
use dacapo_ptx::ir;

use crate::exec::Program;
use crate::finding::{Ending, Finding};
use crate::visit::Visit;

const INVALID: CUresult = CUresult::CUDA_ERROR_INVALID_VALUE;
const INVALID_IMAGE: CUresult = CUresult::CUDA_ERROR_INVALID_IMAGE;
const INVALID_PTX: CUresult = CUresult::CUDA_ERROR_INVALID_PTX;
/// The newest PTX version of CUDA 13.0.
const NEWEST_PTX: (u32, u32) = (9, 0);
/// The device's compute capability; PTX for a newer one does not load.
pub(crate) const SM: u32 = 90;
/// Functions that the driver itself provides to device code.
const PROVIDED: &[&str] = &["vprintf", "__assertfail", "cudaGraphSetConditional", "malloc", "free"];

/// A refusal and what to tell the person who reads the log.
pub(crate) struct Refusal {
    pub(crate) code: CUresult,
    pub(crate) finding: Option<Box<Finding>>,
}

impl From<CUresult> for Refusal {
    fn from(code: CUresult) -> Refusal {
        Refusal { code, finding: None }
    }
}

fn refusal(code: CUresult, what: impl Into<String>, help: &str) -> Refusal {
    let word = if code == INVALID_IMAGE { "invalid-image" } else { "invalid-ptx" };
    Refusal { code, finding: Some(Box::new(Finding::new(word, Ending::YourProgram, what).help(help))) }
}

/// PTX text to a program, by the rules by which the driver was observed to refuse.
pub(crate) fn compile(image: &[u8], name: &str) -> Result<Program, Refusal> {
    let source = String::from_utf8_lossy(image);
    if !first_word_is_version(&source) {
        return Err(refusal(INVALID_IMAGE, "the image is not PTX: it does not begin with `.version`", "load PTX text"));
    }
    if let Some(version) = ptx_version(&source)
        && version > NEWEST_PTX
    {
        let what = format!(
            "PTX version {}.{} is newer than this driver's {}.{}",
            version.0, version.1, NEWEST_PTX.0, NEWEST_PTX.1
        );
        let code = CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
        return Err(refusal(
            code,
            what,
            "compile with a toolkit no newer than the driver, or with an older PTX version",
        ));
    }
    let module = dacapo_ptx::parse(&source).map_err(|errors| {
        refusal(
            INVALID_PTX,
            format!("the PTX of {name} does not compile\n{}", errors.render(name)),
            "mend the PTX, or compile it again",
        )
    })?;
    let target = module.target.first().map(String::as_str).unwrap_or_default();
    if !target_runs_here(target) {
        let what = format!("the PTX of {name} is for `{target}`, and the device is sm_{SM}");
        return Err(refusal(INVALID_PTX, what, "compile for sm_90 or older"));
    }
    if module.address_size != 64 {
        let what = format!("the PTX of {name} has addresses of {} bits", module.address_size);
        return Err(refusal(INVALID_PTX, what, "compile for addresses of 64 bits"));
    }
    if let Some(missing) = unresolved(&module) {
        let what = format!("`{missing}` is declared `.extern` and defined nowhere");
        return Err(refusal(INVALID_PTX, what, "define it in the module: this driver links nothing to it"));
    }
    Ok(Program::new(module, name))
}

/// The text without blanks and comments at its beginning.
fn skip_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start();
        if let Some(rest) = text.strip_prefix("//") {
            text = rest.split_once('\n').map_or("", |(_, rest)| rest);
        } else if let Some(rest) = text.strip_prefix("/*") {
            text = rest.split_once("*/").map_or("", |(_, rest)| rest);
        } else {
            return text;
        }
    }
}

fn first_word_is_version(text: &str) -> bool {
    skip_comments(text).starts_with(".version")
}

fn ptx_version(text: &str) -> Option<(u32, u32)> {
    let number = skip_comments(text).strip_prefix(".version")?.split_whitespace().next()?;
    let (major, minor) = number.split_once('.')?;
    Some((major.parse().ok()?, minor.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()?))
}

fn target_runs_here(target: &str) -> bool {
    let Some(number) = target.strip_prefix("sm_") else { return false };
    let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    match digits.parse::<u32>() {
        // A suffix (sm_90a) means that very architecture and no other.
        Ok(sm) => sm <= SM && (digits.len() == number.len() || sm == SM),
        Err(_) => false,
    }
}

/// A function that is called and defined neither here nor by the driver.
fn unresolved(module: &ir::Module) -> Option<String> {
    let is_missing = |f: &&ir::Function| !f.has_body && !f.is_kernel && !PROVIDED.contains(&f.name.as_str());
    let missing: Vec<&ir::Function> = module.functions.iter().filter(is_missing).collect();
    let called = |id: &ir::FunctionId| {
        missing.iter().any(|m| module.functions.get(id.0 as usize).is_some_and(|f| f.name == m.name))
    };
    for instruction in module.functions.iter().flat_map(|f| &f.body) {
        for operand in &instruction.operands {
            if let ir::Operand::Call(call) = operand
                && let ir::CallTarget::Direct(id) = &call.target
                && called(id)
            {
                return module.functions.get(id.0 as usize).map(|f| f.name.clone());
            }
        }
    }
    None
}

/// The bytes of an image: PTX up to its NUL. What is not PTX is refused.
pub(crate) unsafe fn bytes_of<'a>(v: &mut Visit<'_>, image: *const c_void) -> Result<&'a [u8], Refusal> {
    if image.is_null() {
        return Err(INVALID.into());
    }
    // SAFETY: an image is text up to its NUL, or begins with a header of 64 bytes. Each byte is read only if those
    // before it are the beginning of such a header, and so not the NUL at the end of a shorter text.
    let byte = |at: usize| unsafe { image.cast::<u8>().add(at).read() };
    if byte(0) == 0x7f && byte(1) == b'E' && byte(2) == b'L' && byte(3) == b'F' {
        // SAFETY: an ELF header is 64 bytes long.
        let machine = u16::from_le_bytes([byte(18), byte(19)]);
        return Err(match machine {
            190 => v.unsupported("cubins: machine code is not interpreted").into(),
            _ => refusal(INVALID_IMAGE, "the image is an ELF file that is no cubin", "load PTX text"),
        });
    }
    if byte(0) == 0x50 && byte(1) == 0xed && byte(2) == 0x55 && byte(3) == 0xba {
        return Err(v.unsupported("fat binaries").into());
    }
    // SAFETY: anything else is text that ends with a NUL, by this call's page.
    Ok(unsafe { CStr::from_ptr(image.cast()) }.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_behind_comments() {
        assert_eq!(ptx_version("// made by hand\n/* twice */ .version 8.4\n"), Some((8, 4)));
        assert!(!first_word_is_version("// .version 8.4\n.target sm_80"));
    }

    #[test]
    fn ptx_for_this_architecture_or_older_runs() {
        for (target, runs) in [
            ("sm_70", true),
            ("sm_90", true),
            ("sm_90a", true),
            ("sm_80a", false),
            ("sm_100", false),
            ("sm_x", false),
            ("", false),
        ] {
            assert_eq!(target_runs_here(target), runs, "{target}");
        }
    }
}
