//! PTX text to a program, as the driver compiles it at load: what is accepted, what is refused and with which code.

use dacapo_driver::CUresult;
use dacapo_ptx::ir;
use dacapo_ptx::link::{self, LinkError, Text};

use super::image::Source;
use crate::exec::Program;
use crate::finding::{Ending, Finding};

const INVALID_IMAGE: CUresult = CUresult::CUDA_ERROR_INVALID_IMAGE;
const INVALID_PTX: CUresult = CUresult::CUDA_ERROR_INVALID_PTX;
/// The newest PTX version of CUDA 13.0.
const NEWEST_PTX: (u32, u32) = (9, 0);
/// The device's compute capability; PTX for a newer one does not load.
pub(crate) const SM: u32 = 90;
/// Functions that the driver itself provides to device code.
pub(crate) const PROVIDED: &[&str] = &["vprintf", "__assertfail", "cudaGraphSetConditional", "malloc", "free"];

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

/// A refusal of an image.
pub(crate) fn refusal(code: CUresult, what: impl Into<String>, help: &str) -> Refusal {
    let word = match code {
        INVALID_IMAGE | CUresult::CUDA_ERROR_UNKNOWN => "invalid-image",
        CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => "no-binary",
        _ => "invalid-ptx",
    };
    Refusal { code, finding: Some(Box::new(Finding::new(word, Ending::YourProgram, what).help(help))) }
}

/// PTX to a program, by the rules by which the driver was observed to refuse. Several texts are linked.
pub(crate) fn compile(source: &Source, name: &str) -> Result<Program, Refusal> {
    if let [text] = &source.texts[..] {
        let name = text.name.as_deref().unwrap_or(name);
        let module = module_of(&text.bytes, name)?;
        if let Some(missing) = unresolved(&module) {
            let what = format!("`{missing}` is declared `.extern` and defined nowhere");
            return Err(refusal(
                INVALID_PTX,
                what,
                "define it in the module, or link it with the text that does: cuLinkAddData",
            ));
        }
        return Ok(Program::new(module, name));
    }
    let mut texts = Vec::new();
    for (at, text) in source.texts.iter().enumerate() {
        let name = text.name.clone().unwrap_or_else(|| format!("{name}, text {}", at + 1));
        texts.push(Text { module: module_of(&text.bytes, &name)?, name });
    }
    match link::link(texts, PROVIDED) {
        Ok(module) => Ok(Program::new(module, name)),
        Err(errors) => Err(not_linked(INVALID_PTX, &errors)),
    }
}

/// The refusal of texts that do not go together.
pub(crate) fn not_linked(code: CUresult, errors: &[LinkError]) -> Refusal {
    let what: Vec<String> = errors.iter().map(LinkError::what).collect();
    let help = errors.first().map_or("", LinkError::help);
    let mut finding = Finding::new("link", Ending::YourProgram, what.join("; "));
    for error in errors {
        finding = finding.at(error.first.to_string(), format!("`{}`", error.name));
        if let Some(second) = &error.second {
            finding = finding.at(second.to_string(), "the other");
        }
    }
    Refusal { code, finding: Some(Box::new(finding.help(help))) }
}

/// One text, parsed, and found to be for this device.
pub(crate) fn module_of(bytes: &[u8], name: &str) -> Result<ir::Module, Refusal> {
    let source = text_of(bytes);
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
    Ok(module)
}

/// The text of an image. It ends at its first NUL, and a fat binary may have some behind it.
fn text_of(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes.split(|byte| *byte == 0).next().unwrap_or(bytes))
}

/// Does it begin as PTX does?
pub(crate) fn is_ptx(bytes: &[u8]) -> bool {
    first_word_is_version(&text_of(bytes))
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

/// A function that is called and defined neither here nor by the driver. A variable that is not defined is no error of a load,
/// as an H200 has it: it is memory that nobody else knows.
fn unresolved(module: &ir::Module) -> Option<String> {
    let missing = link::unresolved(module, PROVIDED)?;
    module.functions.iter().any(|f| f.name == missing).then_some(missing)
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
