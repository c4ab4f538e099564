//! Copies of the checkpoints beside the tests, to be changed.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

/// A copy of a checkpoint in a folder of its own.
pub struct Copy {
    folder: PathBuf,
}

/// A safetensors file, taken apart.
pub struct Parts {
    pub tensors: Vec<Part>,
}

/// One tensor of it.
#[derive(Clone)]
pub struct Part {
    pub name: String,
    pub dtype: String,
    pub shape: Vec<usize>,
    pub bytes: Vec<u8>,
}

impl Copy {
    pub fn new(of: &str, name: &str) -> Copy {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/checkpoints").join(of);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name.replace(' ', "-"));
        // What an earlier run has left.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        for file in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
            std::fs::copy(file.path(), folder.join(file.file_name())).unwrap();
        }
        Copy { folder }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    pub fn write(&self, file: &str, bytes: &[u8]) {
        std::fs::write(self.path(file), bytes).unwrap();
    }

    pub fn remove(&self, file: &str) {
        std::fs::remove_file(self.path(file)).unwrap();
    }

    pub fn edit(&self, file: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = std::fs::read(self.path(file)).unwrap();
        change(&mut bytes);
        self.write(file, &bytes);
    }

    pub fn json(&self, file: &str, change: impl FnOnce(&mut Map<String, Value>)) {
        self.edit(file, |bytes| {
            let mut map = serde_json::from_slice(bytes).unwrap();
            change(&mut map);
            *bytes = serde_json::to_vec(&map).unwrap();
        });
    }

    pub fn config(&self, change: impl FnOnce(&mut Map<String, Value>)) {
        self.json("config.json", change);
    }

    pub fn parts(&self, change: impl FnOnce(&mut Parts)) {
        self.parts_of("model.safetensors", change);
    }

    pub fn parts_of(&self, file: &str, change: impl FnOnce(&mut Parts)) {
        self.edit(file, |bytes| {
            let mut parts = Parts::read(bytes);
            change(&mut parts);
            *bytes = parts.written();
        });
    }
}

impl Parts {
    fn read(bytes: &[u8]) -> Parts {
        let (length, rest) = bytes.split_at(8);
        let (header, data) = rest.split_at(u64::from_le_bytes(length.try_into().unwrap()) as usize);
        let header: Map<String, Value> = serde_json::from_slice(header).unwrap();
        let part = |(name, of): (&String, &Value)| {
            let number = |value: &Value| value.as_u64().unwrap() as usize;
            let [begin, end] = [0, 1].map(|i| number(&of["data_offsets"][i]));
            Part {
                name: name.clone(),
                dtype: of["dtype"].as_str().unwrap().into(),
                shape: of["shape"].as_array().unwrap().iter().map(number).collect(),
                bytes: data[begin..end].to_vec(),
            }
        };
        Parts { tensors: header.iter().filter(|(name, _)| *name != "__metadata__").map(part).collect() }
    }

    fn written(&self) -> Vec<u8> {
        let (mut header, mut data) = (Map::new(), Vec::new());
        for Part { name, dtype, shape, bytes } in &self.tensors {
            let offsets = [data.len(), data.len() + bytes.len()];
            header.insert(name.clone(), json!({"dtype": dtype, "shape": shape, "data_offsets": offsets}));
            data.extend_from_slice(bytes);
        }
        let header = serde_json::to_vec(&header).unwrap();
        [&(header.len() as u64).to_le_bytes()[..], &header, &data].concat()
    }

    pub fn of(&mut self, name: &str) -> &mut Part {
        self.tensors.iter_mut().find(|tensor| tensor.name == name).unwrap()
    }

    pub fn add(&mut self, name: &str, dtype: &str, shape: &[usize], bytes: usize) {
        self.tensors.push(Part { name: name.into(), dtype: dtype.into(), shape: shape.into(), bytes: vec![0; bytes] });
    }

    /// Gives tensors another type, of so many bytes an element, and zeros.
    pub fn retype(&mut self, which: impl Fn(&str) -> bool, dtype: &str, size: usize) {
        for tensor in self.tensors.iter_mut().filter(|tensor| which(&tensor.name)) {
            tensor.dtype = dtype.into();
            tensor.bytes = vec![0; size * tensor.shape.iter().product::<usize>()];
        }
    }
}
