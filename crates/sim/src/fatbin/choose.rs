//! Which of a container's entries a device takes.

use super::{BYTES_MAX, Broken, Entry, Kind, LINKED, entries};

/// What a container holds for a device.
#[derive(Clone, Debug)]
pub enum Image {
    /// The text that the device takes.
    Text {
        /// The text, which need not end with a zero byte.
        bytes: Vec<u8>,
        /// The name of the source, where it is kept.
        name: Option<String>,
    },
    /// Texts that a linker has put together: name and bytes of each. They are one module.
    Linked(Vec<(String, Vec<u8>)>),
    /// Nothing that runs there: what there is, as `sm_80`, `compute_100`.
    Nothing(Vec<String>),
}

/// What a device of compute capability `sm` (90) takes of the container in `bytes`.
///
/// Of texts it is the one for the highest architecture that is not above the device, `90a` before `90`, whatever the order;
/// that is how an H200 chooses. Machine code is left out.
///
/// # Errors
///
/// A container that is damaged, or a text in it that cannot be unpacked.
pub fn choose(bytes: &[u8], sm: u32) -> Result<Image, Broken> {
    let all = entries(bytes)?;
    if all.iter().any(|entry| entry.flags & LINKED != 0) {
        return linked(&all);
    }
    let fits = |entry: &&Entry<'_>| {
        entry.kind == Kind::Ptx
            && match entry.letter {
                None => entry.architecture <= sm,
                Some(_) => entry.architecture == sm,
            }
    };
    // The first of equals.
    let mut best: Option<&Entry<'_>> = None;
    for entry in all.iter().filter(fits) {
        let rank = |entry: &Entry<'_>| (entry.architecture, entry.letter.is_some());
        if best.is_none_or(|best| rank(entry) > rank(best)) {
            best = Some(entry);
        }
    }
    match best {
        Some(entry) => Ok(Image::Text { bytes: entry.contents()?, name: entry.name.clone() }),
        None => {
            let mut there: Vec<String> = all.iter().map(Entry::target).collect();
            there.sort();
            there.dedup();
            Ok(Image::Nothing(there))
        }
    }
}

/// All texts of a linked image. Each could be packed well, so what they come to together has a limit too.
fn linked(entries: &[Entry<'_>]) -> Result<Image, Broken> {
    let (mut texts, mut bytes) = (Vec::new(), 0);
    for entry in entries {
        let text = entry.contents()?;
        bytes += text.len() as u64;
        if bytes > BYTES_MAX {
            return Err(Broken::TooLarge(bytes));
        }
        texts.push((entry.name.clone().unwrap_or_default(), text));
    }
    Ok(Image::Linked(texts))
}
