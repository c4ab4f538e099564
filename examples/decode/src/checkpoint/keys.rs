//! The keys of a JSON file, each of which must be known: read, or named as one that changes nothing.
//!
//! A key whose value is `null` counts as absent, as everywhere in such files.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value};

use super::failure::{Refused, name_of};

/// Longer values are cut in messages.
const SHOWN_MAX: usize = 60;

/// An object of a JSON file, and which of its keys have been asked for.
pub struct Keys<'a> {
    place: &'a Path,
    /// Before each key in messages: the object's own key and a dot, where it is inside another.
    within: String,
    map: &'a Map<String, Value>,
    asked: RefCell<BTreeSet<String>>,
}

/// Reads a file as JSON.
///
/// # Errors
///
/// - It cannot be read, is no JSON, or something else than an object.
pub fn object(place: &Path, help: &str) -> Result<Map<String, Value>, Refused> {
    let bytes = std::fs::read(place).map_err(|error| Refused::unreadable(place, &error, help))?;
    let value = serde_json::from_slice(&bytes).map_err(|error| {
        let what = format!("{} is no valid JSON: {error}", name_of(place));
        Refused::new("json", place, what, "the file may be cut off: copy or download it again")
    })?;
    match value {
        Value::Object(map) => Ok(map),
        other => {
            let what = format!("{} is {}, and must be an object with keys", name_of(place), kind(&other));
            Err(Refused::new("json", place, what, "the file may be another one: copy or download it again"))
        }
    }
}

/// A value as messages have it, cut where it is long.
pub fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl<'a> Keys<'a> {
    /// Those of a file.
    pub fn new(place: &'a Path, map: &'a Map<String, Value>) -> Keys<'a> {
        Keys { place, within: String::new(), map, asked: RefCell::default() }
    }

    /// Those of an object under a key.
    ///
    /// # Errors
    ///
    /// - Something else is there.
    pub fn inner(&self, key: &str) -> Result<Option<Keys<'a>>, Refused> {
        let within = format!("{}{key}.", self.within);
        match self.get(key) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Keys { place: self.place, within, map, asked: RefCell::default() })),
            Some(other) => Err(self.wrong(key, "an object with keys", other)),
        }
    }

    /// The value of a key, if there is one.
    pub fn get(&self, key: &str) -> Option<&'a Value> {
        self.asked.borrow_mut().insert(key.to_owned());
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// A size that must be there.
    ///
    /// # Errors
    ///
    /// - It is not, or is no whole number from 1 to `most`.
    pub fn size(&self, key: &str, most: usize) -> Result<usize, Refused> {
        self.opt_size(key, most)?.ok_or_else(|| self.missing(key))
    }

    /// A size that may be there.
    ///
    /// # Errors
    ///
    /// - It is there and is no whole number from 1 to `most`.
    pub fn opt_size(&self, key: &str, most: usize) -> Result<Option<usize>, Refused> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let size = value.as_u64().and_then(|size| usize::try_from(size).ok()).filter(|size| (1..=most).contains(size));
        size.map(Some).ok_or_else(|| self.wrong(key, &format!("a whole number from 1 to {most}"), value))
    }

    /// A number above 0 that may be there.
    ///
    /// # Errors
    ///
    /// - It is there and is something else.
    pub fn opt_positive(&self, key: &str) -> Result<Option<f64>, Refused> {
        let Some(value) = self.get(key) else { return Ok(None) };
        // What f32 cannot hold would be 0 or infinite on the device.
        let number = value.as_f64().filter(|&number| (number as f32).is_normal() && number > 0.0);
        number.map(Some).ok_or_else(|| self.wrong(key, "a number above 0", value))
    }

    /// A number above 0 that must be there.
    ///
    /// # Errors
    ///
    /// - It is not, or is something else.
    pub fn positive(&self, key: &str) -> Result<f64, Refused> {
        self.opt_positive(key)?.ok_or_else(|| self.missing(key))
    }

    /// A truth value, and what its absence means.
    ///
    /// # Errors
    ///
    /// - It is something else.
    pub fn flag(&self, key: &str, absent: bool) -> Result<bool, Refused> {
        match self.get(key) {
            None => Ok(absent),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(self.wrong(key, "true or false", other)),
        }
    }

    /// A list of token numbers, or one of them; none where the key is absent.
    ///
    /// # Errors
    ///
    /// - Something else is there.
    pub fn tokens(&self, key: &str) -> Result<Vec<u32>, Refused> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let token = |value: &Value| value.as_u64().and_then(|token| u32::try_from(token).ok());
        let tokens = match value {
            Value::Array(list) => list.iter().map(token).collect(),
            single => token(single).map(|token| vec![token]),
        };
        tokens.ok_or_else(|| self.wrong(key, "a token number or a list of them", value))
    }

    /// A key that changes what a model computes, of which only one value is implemented. Absence means that value.
    ///
    /// # Errors
    ///
    /// - It has another value.
    pub fn only(&self, key: &str, implemented: &Value, meaning: &str) -> Result<(), Refused> {
        match self.get(key) {
            Some(found) if !same(found, implemented) => Err(self.unsupported(key, found, implemented, meaning)),
            _ => Ok(()),
        }
    }

    /// The refusal of a value that is not implemented.
    pub fn unsupported(&self, key: &str, found: &Value, implemented: &Value, meaning: &str) -> Refused {
        let what = format!("`{}{key}` is {}, and only {implemented} is implemented", self.within, shown(found));
        Refused::new("config", self.place, what, format!("{meaning}: choose another checkpoint"))
    }

    /// The refusal of a size that there are no kernels for.
    pub fn no_kernels(&self, key: &str, expected: &str, found: usize) -> Refused {
        let what = format!("`{}{key}` must be {expected} for the kernels there are, and is {found}", self.within);
        Refused::new("config", self.place, what, "choose another checkpoint, or extend kernels/llama.cu")
    }

    /// Keys that change nothing that is computed here.
    pub fn ignore(&self, keys: &[&str]) {
        self.asked.borrow_mut().extend(keys.iter().map(|&key| key.to_owned()));
    }

    /// Refuses the first key that nobody asked for.
    ///
    /// # Errors
    ///
    /// - There is one, with a value.
    pub fn all_known(&self) -> Result<(), Refused> {
        let asked = self.asked.borrow();
        let Some((key, value)) = self.map.iter().find(|(key, value)| !asked.contains(*key) && !value.is_null()) else {
            return Ok(());
        };
        let what = format!("`{}{key}` is not known here; its value is {}", self.within, shown(value));
        let help = "if it does not change what the model computes, remove it from the file";
        Err(Refused::new("config", self.place, what, help))
    }

    /// The refusal of a key's absence.
    pub fn missing(&self, key: &str) -> Refused {
        let what = format!("`{}{key}` is missing", self.within);
        Refused::new("config", self.place, what, "take the file from where the checkpoint comes from")
    }

    /// The refusal of a value that cannot be.
    pub fn wrong(&self, key: &str, expected: &str, found: &Value) -> Refused {
        let what = format!("`{}{key}` must be {expected}, and is {}", self.within, shown(found));
        Refused::new("config", self.place, what, "take the file from where the checkpoint comes from")
    }
}

/// Whether two values are equal; numbers by their size, so that 1 is 1.0.
fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}
