//! Mouse and keys: the events a user's hands would make, so that what a page does with them is what it does for a user.
//!
//! - A click goes to the middle of what can be seen of an element; on a line of a drawing, to the middle of its length.
//! - Before it, the parts of the page that a user can scroll are scrolled until the element is seen. What clips without
//!   a scroll bar is left as it is.
//! - An element that something else covers at that point is not clicked: that is an error, and names what is on top.

use serde_json::{Value, json};

use super::tab::{Tab, quoted};

/// A function that answers `{x, y}`, or `{error}`.
const AIM: &str = include_str!("aim.js");

/// Steps of the mouse on the way of a drag.
const DRAG_STEPS: u32 = 8;

/// Keys that write nothing: name, number. The number is what old handlers read as `keyCode`.
const KEYS: &[(&str, u32)] = &[
    ("Backspace", 8),
    ("Tab", 9),
    ("Enter", 13),
    ("Escape", 27),
    ("PageUp", 33),
    ("PageDown", 34),
    ("End", 35),
    ("Home", 36),
    ("ArrowLeft", 37),
    ("ArrowUp", 38),
    ("ArrowRight", 39),
    ("ArrowDown", 40),
    ("Delete", 46),
];

/// Keys that are held while another is pressed, with their bits.
const HELD: &[(&str, u32)] = &[("Alt+", 1), ("Control+", 2), ("Shift+", 8)];

impl Tab<'_> {
    /// Clicks the first element that is selected.
    ///
    /// # Errors
    ///
    /// - There is none, nothing of it can be seen, or something covers it.
    pub fn click(&mut self, selector: &str) -> Result<(), String> {
        let at = self.aim(selector)?;
        self.mouse_event("mouseMoved", at, false)?;
        self.mouse_event("mousePressed", at, true)?;
        self.mouse_event("mouseReleased", at, true)?;
        self.settle()
    }

    /// Moves the mouse over the first element that is selected.
    ///
    /// # Errors
    ///
    /// - As [`click`](Self::click).
    pub fn hover(&mut self, selector: &str) -> Result<(), String> {
        let at = self.aim(selector)?;
        self.mouse_event("mouseMoved", at, false)?;
        self.settle()
    }

    /// Where a click on the first element that is selected goes to. Scrolls as a click does.
    ///
    /// # Errors
    ///
    /// - As [`click`](Self::click).
    pub fn aim(&mut self, selector: &str) -> Result<(f64, f64), String> {
        let aimed = self.eval(&format!("({AIM})({})", quoted(selector)))?;
        match (aimed["x"].as_f64(), aimed["y"].as_f64()) {
            (Some(x), Some(y)) => Ok((x, y)),
            _ => Err(format!("`{selector}` cannot be clicked: {}", aimed["error"].as_str().unwrap_or_default())),
        }
    }

    /// Presses the mouse at one point and lets go at another.
    ///
    /// # Errors
    ///
    /// - The browser does not do it.
    pub fn drag(&mut self, from: (f64, f64), to: (f64, f64)) -> Result<(), String> {
        self.mouse_event("mouseMoved", from, false)?;
        self.mouse_event("mousePressed", from, true)?;
        for step in 1..=DRAG_STEPS {
            let part = f64::from(step) / f64::from(DRAG_STEPS);
            let at = (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part);
            self.mouse_event("mouseMoved", at, true)?;
        }
        self.mouse_event("mouseReleased", to, true)?;
        self.settle()
    }

    /// Turns the wheel at a point; `dy` below zero is away from the user, which scrolls up and usually zooms in.
    ///
    /// # Errors
    ///
    /// - The browser does not do it.
    pub fn wheel(&mut self, x: f64, y: f64, dy: f64) -> Result<(), String> {
        self.mouse = (x, y);
        self.call(
            "Input.dispatchMouseEvent",
            json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": dy}),
        )?;
        self.settle()
    }

    /// Presses a key: a character, or a name as in `KeyboardEvent.key`. `Shift+Tab` and `Control+a` hold another.
    ///
    /// # Errors
    ///
    /// - There is no such key.
    pub fn key(&mut self, key: &str) -> Result<(), String> {
        self.press(key)?;
        self.settle()
    }

    /// Types a text, a key for each character, where the focus is.
    ///
    /// # Errors
    ///
    /// - The browser does not do it.
    pub fn type_text(&mut self, text: &str) -> Result<(), String> {
        let mut characters = [0; 4];
        for character in text.chars() {
            match character {
                '\n' => self.press("Enter")?,
                other => self.press(other.encode_utf8(&mut characters))?,
            }
        }
        self.settle()
    }

    fn press(&mut self, key: &str) -> Result<(), String> {
        let mut event = key_event(key)?;
        event["type"] = if event.get("text").is_some() { "keyDown" } else { "rawKeyDown" }.into();
        self.call("Input.dispatchKeyEvent", event.clone())?;
        event["type"] = "keyUp".into();
        event.as_object_mut().map(|event| event.remove("text"));
        self.call("Input.dispatchKeyEvent", event).map(drop)
    }

    /// `pressed`: with the left button.
    fn mouse_event(&mut self, kind: &str, at: (f64, f64), pressed: bool) -> Result<(), String> {
        self.mouse = at;
        let mut event = json!({"type": kind, "x": at.0, "y": at.1});
        if pressed {
            event["button"] = "left".into();
            event["buttons"] = u32::from(kind != "mouseReleased").into();
            event["clickCount"] = u32::from(kind != "mouseMoved").into();
        }
        self.call("Input.dispatchMouseEvent", event).map(drop)
    }
}

/// The parameters of an event for a key, without its type.
fn key_event(key: &str) -> Result<Value, String> {
    let (mut name, mut held) = (key, 0);
    while let Some((prefix, bit)) =
        HELD.iter().find(|(prefix, _)| name.len() > prefix.len() && name.starts_with(prefix))
    {
        name = &name[prefix.len()..];
        held |= bit;
    }
    let mut event = json!({"key": name, "modifiers": held});
    let mut characters = name.chars();
    match (characters.next(), characters.next()) {
        (Some(character), None) => {
            event["code"] = code_of(character).into();
            if character.is_ascii_alphanumeric() || character == ' ' {
                event["windowsVirtualKeyCode"] = u32::from(character.to_ascii_uppercase()).into();
            }
            // With Control or Alt it is a command, and writes nothing.
            if held & 3 == 0 {
                event["text"] = name.into();
            }
        }
        _ => {
            let (_, number) = KEYS.iter().find(|(known, _)| *known == name).ok_or_else(|| {
                let known: Vec<&str> = KEYS.iter().map(|(name, _)| *name).collect();
                format!("there is no key `{name}`; there are characters, and {}", known.join(", "))
            })?;
            event["code"] = name.into();
            event["windowsVirtualKeyCode"] = (*number).into();
            if name == "Enter" {
                event["text"] = "\r".into();
            }
        }
    }
    Ok(event)
}

/// Where a character is on a keyboard of the United States; empty for one that is not on it.
fn code_of(character: char) -> String {
    match character {
        'a'..='z' | 'A'..='Z' => format!("Key{}", character.to_ascii_uppercase()),
        '0'..='9' => format!("Digit{character}"),
        ' ' => "Space".to_string(),
        '/' | '?' => "Slash".to_string(),
        '+' | '=' => "Equal".to_string(),
        '-' | '_' => "Minus".to_string(),
        '[' => "BracketLeft".to_string(),
        ']' => "BracketRight".to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_character_or_a_name_with_what_is_held() {
        let event = key_event("/").unwrap();
        assert_eq!((&event["text"], &event["code"]), (&json!("/"), &json!("Slash")));
        let event = key_event("Control+a").unwrap();
        assert_eq!((&event["text"], &event["modifiers"]), (&Value::Null, &json!(2)));
        let event = key_event("Shift+Tab").unwrap();
        assert_eq!((&event["windowsVirtualKeyCode"], &event["modifiers"]), (&json!(9), &json!(8)));
        assert_eq!(key_event("+").unwrap()["text"], "+");
        let error = key_event("Return").unwrap_err();
        assert!(error.starts_with("there is no key `Return`") && error.contains("Enter"), "{error}");
    }
}
