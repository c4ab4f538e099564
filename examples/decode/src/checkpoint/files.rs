//! The safetensors files of a checkpoint: mapped into memory, their headers read and checked, nothing copied.
//!
//! - One file, `model.safetensors`, or several that `model.safetensors.index.json` names. Both at once are two answers to
//!   one question, and refused.
//! - The offsets of a header are dense and as long as its shapes and types say, and the file ends where they end: the crate
//!   `safetensors` sees to that.
//! - The index and the files name the same tensors, each once.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use memmap2::{Advice, Mmap};
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, SafeTensorError};
use serde_json::Value;

use super::failure::{Refused, name_of};
use super::keys::{Keys, object, shown};

const SINGLE: &str = "model.safetensors";
const INDEX: &str = "model.safetensors.index.json";
/// What to do about a file that is not whole.
const AGAIN: &str = "the file is cut off, or of another format: copy or download it again";

/// The files, and where each tensor is in them.
pub struct Files {
    files: Vec<Mapped>,
    tensors: BTreeMap<String, Tensor>,
}

struct Mapped {
    place: PathBuf,
    map: Mmap,
}

/// A tensor of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    file: usize,
    /// Its type.
    pub dtype: Dtype,
    /// Its sizes.
    pub shape: Vec<usize>,
    range: Range<usize>,
}

impl Files {
    /// Maps the files of a folder and reads their headers.
    ///
    /// # Errors
    ///
    /// - There is none; one cannot be read, is cut off, or has a header that cannot be; the index does not fit the files.
    pub fn open(folder: &Path) -> Result<Files, Refused> {
        let (single, index) = (folder.join(SINGLE), folder.join(INDEX));
        let mut files = Files { files: Vec::new(), tensors: BTreeMap::new() };
        match (single.exists(), index.exists()) {
            (true, true) => {
                let what = format!("there is {SINGLE}, and {INDEX}, which names other files");
                return Err(Refused::new("file", folder, what, "remove the one that is not meant"));
            }
            (false, false) => {
                let what = format!("there is neither {SINGLE} nor {INDEX}");
                let help = "weights in other formats (.bin, .gguf) are not read: convert them to safetensors";
                return Err(Refused::new("file", folder, what, help));
            }
            (true, false) => files.add(single)?,
            (false, true) => files.add_all(folder, &index)?,
        }
        Ok(files)
    }

    /// The tensors, by name.
    pub fn tensors(&self) -> &BTreeMap<String, Tensor> {
        &self.tensors
    }

    /// The bytes of a tensor.
    pub fn bytes(&self, tensor: &Tensor) -> &[u8] {
        &self.files[tensor.file].map[tensor.range.clone()]
    }

    /// The file that a tensor is in.
    pub fn place(&self, tensor: &Tensor) -> &Path {
        &self.files[tensor.file].place
    }

    /// The first file, for what is in none of them.
    pub fn first_place(&self) -> &Path {
        &self.files[0].place
    }

    /// Bytes of all tensors.
    pub fn total(&self) -> u64 {
        self.tensors.values().map(|tensor| tensor.range.len() as u64).sum()
    }

    /// Asks the system for a part of a tensor's pages at once, in place of one by one as they are touched.
    pub fn populate(&self, tensor: &Tensor, part: Range<usize>) {
        // Older kernels do not know the advice; then the pages come as they are touched.
        let _ =
            self.files[tensor.file].map.advise_range(Advice::PopulateRead, tensor.range.start + part.start, part.len());
    }

    fn add(&mut self, place: PathBuf) -> Result<(), Refused> {
        let map = map(&place)?;
        let (header, metadata) = SafeTensors::read_metadata(&map).map_err(|error| broken(&place, &map, &error))?;
        let begin = size_of::<u64>() + header;
        // In the order of their names, so that of several mistakes it is always the same that is told.
        for (name, info) in BTreeMap::from_iter(metadata.tensors()) {
            let range = begin + info.data_offsets.0..begin + info.data_offsets.1;
            let tensor = Tensor { file: self.files.len(), dtype: info.dtype, shape: info.shape.clone(), range };
            if let Some(other) = self.tensors.insert(name.clone(), tensor) {
                let what = format!("`{name}` is in {} and in {}", name_of(self.place(&other)), name_of(&place));
                return Err(Refused::new(
                    "index",
                    &place,
                    what,
                    "remove the file that does not belong to the checkpoint",
                ));
            }
        }
        self.files.push(Mapped { place, map });
        Ok(())
    }

    /// The files that the index names, and a check that both name the same tensors.
    fn add_all(&mut self, folder: &Path, index: &Path) -> Result<(), Refused> {
        let map = object(index, "the file is there, but not for this user")?;
        let keys = Keys::new(index, &map);
        let found = keys.get("weight_map").ok_or_else(|| keys.missing("weight_map"))?;
        let Value::Object(names) = found else { return Err(keys.wrong("weight_map", "an object with keys", found)) };
        let mut by_file: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, file) in names {
            let Some(file) = file.as_str().filter(|file| is_plain(file)) else {
                let what = format!("`{name}` must be in a file of the same folder, and the index says {}", shown(file));
                return Err(Refused::new("index", index, what, "take the file from where the checkpoint comes from"));
            };
            *by_file.entry(file).or_default() += 1;
        }
        if by_file.is_empty() {
            let what = "`weight_map` names no file";
            return Err(Refused::new("index", index, what, "take the file from where the checkpoint comes from"));
        }
        for (file, tensors) in by_file {
            let place = folder.join(file);
            if !place.exists() {
                let what = format!("the index names {file}, which is not there; {tensors} tensors should be in it");
                return Err(Refused::new("index", index, what, format!("copy or download {file} to the same folder")));
            }
            self.add(place)?;
        }
        self.matches(index, names)
    }

    fn matches(&self, index: &Path, names: &serde_json::Map<String, Value>) -> Result<(), Refused> {
        let help = "index and files must be of one checkpoint: copy or download them again";
        for (name, file) in names {
            let file = file.as_str().unwrap_or_default();
            let found = self.tensors.get(name).map(|tensor| name_of(self.place(tensor)));
            if found.as_deref() != Some(file) {
                let found = found.map_or("in no file".into(), |found| format!("in {found}"));
                let what = format!("`{name}` should be in {file} by the index, and is {found}");
                return Err(Refused::new("index", index, what, help));
            }
        }
        match self.tensors.iter().find(|(name, _)| !names.contains_key(*name)) {
            Some((name, tensor)) => {
                let what = format!("`{name}` is in {} and not in the index", name_of(self.place(tensor)));
                Err(Refused::new("index", index, what, help))
            }
            None => Ok(()),
        }
    }
}

/// Whether a name is that of a file in the same folder.
fn is_plain(file: &str) -> bool {
    Path::new(file).file_name().is_some_and(|name| name == file)
}

fn map(place: &Path) -> Result<Mmap, Refused> {
    let unreadable = |error| Refused::unreadable(place, &error, "is it a file, and may this user read it?");
    let file = File::open(place).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    if length == 0 {
        return Err(Refused::new("header", place, format!("{} is empty", name_of(place)), AGAIN));
    }
    // SAFETY: nothing of ours writes to the file. What others do to it while it is read is what every program that maps files
    // must hope for: changed bytes would be other weights, and every bit pattern is one.
    unsafe { Mmap::map(&file) }.map_err(unreadable)
}

/// A header that cannot be, with numbers where the file is cut off.
fn broken(place: &Path, bytes: &[u8], error: &SafeTensorError) -> Refused {
    let name = name_of(place);
    let what = match error {
        SafeTensorError::MetadataIncompleteBuffer => match promised(bytes) {
            Some(promised) => format!("{name} has {} bytes, and its header speaks of {promised}", bytes.len()),
            None => format!("{name} does not end where its header says"),
        },
        SafeTensorError::HeaderTooSmall | SafeTensorError::InvalidHeaderLength => {
            format!("{name} has {} bytes, and ends inside its header", bytes.len())
        }
        other => format!("the header of {name} is not that of a safetensors file: {other}"),
    };
    Refused::new("header", place, what, AGAIN)
}

/// The length that a file should have by its header.
fn promised(bytes: &[u8]) -> Option<u64> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = u64::from_le_bytes(*length);
    let header: Value = serde_json::from_slice(rest.get(..usize::try_from(length).ok()?)?).ok()?;
    let end = |tensor: &Value| tensor.get("data_offsets")?.get(1)?.as_u64();
    let last = header.as_object()?.values().filter_map(end).max()?;
    last.checked_add(length)?.checked_add(size_of::<u64>() as u64)
}
