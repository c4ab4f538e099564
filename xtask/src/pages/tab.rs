//! One page in the browser, as a script of a scene sees it.
//!
//! Here: opening, asking, looking. How one points, clicks and types is in `input.rs`; what is wrong with the texts of a
//! page in `texts.rs`.
//!
//! - A tab has a profile of its own: nothing is remembered from one to the next.
//! - What a page must not do is noted from the first moment: errors of scripts, warnings, requests.
//! - After whatever a script does, the page has drawn a frame before the next line runs.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::base64;
use super::browser::{ANSWER_LIMIT, Browser, text_of};
use super::pictures::Pictures;

/// How large a window is unless a script asks for another size.
const SIZE: (u32, u32) = (1280, 800);

/// How often a condition is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Resolves when a frame has been drawn.
const NEXT_FRAME: &str = "new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))";

/// A page in a browser.
pub struct Tab<'b> {
    browser: &'b mut Browser,
    session: String,
    target: String,
    context: String,
    /// Where the mouse is.
    pub(super) mouse: (f64, f64),
    opt_pictures: Option<Pictures>,
    errors: Vec<String>,
    requests: Vec<String>,
    /// Whether times are held to what is promised.
    pub(super) is_strict: bool,
    // The page, and its address.
    file: PathBuf,
    url: String,
}

impl<'b> Tab<'b> {
    /// How large the page is.
    ///
    /// # Errors
    ///
    /// - Its file is gone.
    pub fn bytes(&self) -> Result<u64, String> {
        let file = std::fs::metadata(&self.file).map_err(|error| format!("{}: {error}", self.file.display()))?;
        Ok(file.len())
    }

    /// An empty tab.
    ///
    /// # Errors
    ///
    /// - The browser does not do its part.
    pub fn new(browser: &'b mut Browser) -> Result<Self, String> {
        let mut of_browser = |method, params, name: &str| {
            let answer = browser.call(None, method, params, ANSWER_LIMIT)?;
            answer[name].as_str().map(str::to_string).ok_or_else(|| format!("`{method}` answers without `{name}`"))
        };
        let context = of_browser("Target.createBrowserContext", json!({"disposeOnDetach": true}), "browserContextId")?;
        let blank = json!({"url": "about:blank", "browserContextId": context});
        let target = of_browser("Target.createTarget", blank, "targetId")?;
        let attach = json!({"targetId": target, "flatten": true});
        let session = of_browser("Target.attachToTarget", attach, "sessionId")?;
        let mut tab = Self {
            browser,
            session,
            target,
            context,
            mouse: (0.0, 0.0),
            opt_pictures: None,
            errors: Vec::new(),
            requests: Vec::new(),
            is_strict: false,
            file: PathBuf::new(),
            url: String::new(),
        };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), json!({}))?;
        }
        tab.call("Emulation.setFocusEmulationEnabled", json!({"enabled": true}))?;
        tab.resize(SIZE.0, SIZE.1)?;
        Ok(tab)
    }

    /// Pictures are kept from now on.
    pub fn keep_pictures(&mut self, pictures: Pictures) {
        self.opt_pictures = Some(pictures);
    }

    /// Opens a file and waits until it is loaded. Returns how long that took, from the start of the navigation to the load
    /// event, by the page's own clock.
    ///
    /// # Errors
    ///
    /// - There is no such file, or the load event does not come.
    pub fn open(&mut self, file: &Path) -> Result<Duration, String> {
        let file = file.canonicalize().map_err(|error| format!("{}: {error}", file.display()))?;
        self.note();
        self.url = url_of(&file);
        self.file.clone_from(&file);
        let answer = self.call("Page.navigate", json!({"url": self.url}))?;
        if let Some(refused) = answer["errorText"].as_str() {
            return Err(format!("{} does not open: {refused}", file.display()));
        }
        self.browser
            .wait_for(&self.session, "Page.loadEventFired", ANSWER_LIMIT)
            .map_err(|error| format!("{} does not load: {error}", file.display()))?;
        self.settle()?;
        let took_ms = self.eval("performance.getEntriesByType('navigation')[0].loadEventStart")?;
        Ok(Duration::from_secs_f64(took_ms.as_f64().unwrap_or_default() / 1e3))
    }

    /// The file that was opened last.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Loads the page again, from the address that it has given itself meanwhile.
    ///
    /// # Errors
    ///
    /// - The load event does not come.
    pub fn reload(&mut self) -> Result<(), String> {
        self.note();
        self.call("Page.reload", json!({}))?;
        self.browser.wait_for(&self.session, "Page.loadEventFired", ANSWER_LIMIT)?;
        self.settle()
    }

    /// The value of an expression in the page; a promise is awaited. `undefined` is null.
    ///
    /// # Errors
    ///
    /// - The expression throws: what it throws, as text.
    /// - It does not come to an end in time.
    pub fn eval(&mut self, js: &str) -> Result<Value, String> {
        let params = json!({"expression": js, "awaitPromise": true, "returnByValue": true});
        let mut answer =
            self.call("Runtime.evaluate", params).map_err(|error| format!("{error}, in `{}`", brief(js)))?;
        if answer["exceptionDetails"].is_object() {
            return Err(format!("`{}` throws: {}", brief(js), thrown(&answer["exceptionDetails"])));
        }
        let result = &mut answer["result"];
        // Numbers that JSON does not have, `NaN` for one, come as text.
        let odd = result["unserializableValue"].take();
        Ok(if odd.is_null() { result["value"].take() } else { odd })
    }

    /// Waits until an expression is true.
    ///
    /// # Errors
    ///
    /// - It is not within `limit`; or it throws.
    pub fn wait_until(&mut self, js: &str, limit: Duration) -> Result<(), String> {
        let deadline = Instant::now() + limit;
        while self.eval(&format!("!!({js})"))? != true {
            if Instant::now() > deadline {
                return Err(format!("`{}` did not become true within {:.1} s", brief(js), limit.as_secs_f64()));
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// What one reads in the first element that is selected.
    ///
    /// # Errors
    ///
    /// - There is none.
    pub fn text(&mut self, selector: &str) -> Result<String, String> {
        // SVG has no `innerText`.
        let js = format!(
            "(() => {{ const e = document.querySelector({}); return e && (e.innerText ?? e.textContent) }})()",
            quoted(selector)
        );
        match self.eval(&js)? {
            Value::String(text) => Ok(text),
            _ => Err(format!("nothing is selected by `{selector}`")),
        }
    }

    /// How many elements are selected, visible or not.
    ///
    /// # Errors
    ///
    /// - That is no selector.
    pub fn count(&mut self, selector: &str) -> Result<usize, String> {
        let count = self.eval(&format!("document.querySelectorAll({}).length", quoted(selector)))?;
        Ok(count.as_u64().unwrap_or_default() as usize)
    }

    /// How many of the elements that are selected are displayed, in the window or out of it.
    ///
    /// # Errors
    ///
    /// - That is no selector.
    pub fn count_shown(&mut self, selector: &str) -> Result<usize, String> {
        // Of a group of a drawing that is not displayed `checkVisibility` knows nothing; what is in it has no boxes.
        let is_shown = "element => element.getClientRects().length > 0 && element.checkVisibility()";
        let count = format!("[...document.querySelectorAll({})].filter({is_shown}).length", quoted(selector));
        Ok(self.eval(&count)?.as_u64().unwrap_or_default() as usize)
    }

    /// An error unless an expression is true.
    ///
    /// # Errors
    ///
    /// - It is not; or it throws.
    pub fn holds(&mut self, js: &str) -> Result<(), String> {
        match self.eval(&format!("!!({js})"))? == true {
            true => Ok(()),
            false => Err(format!("`{}` is not true", brief(js))),
        }
    }

    /// Makes the window so large, in CSS pixels.
    ///
    /// # Errors
    ///
    /// - The browser does not do it.
    pub fn size(&mut self, width: u32, height: u32) -> Result<(), String> {
        self.resize(width, height)?;
        self.settle()
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), String> {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", metrics).map(drop)
    }

    /// Whether the user prefers dark colours.
    ///
    /// # Errors
    ///
    /// - The browser does not do it.
    pub fn dark(&mut self, dark: bool) -> Result<(), String> {
        let value = if dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": value}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}))?;
        self.settle()
    }

    /// As it is on paper, or on a screen again.
    ///
    /// # Errors
    ///
    /// - The browser does not do it.
    pub fn print(&mut self, is_printed: bool) -> Result<(), String> {
        self.call("Emulation.setEmulatedMedia", json!({"media": if is_printed { "print" } else { "" }}))?;
        self.settle()
    }

    /// Writes what the window shows as PNG.
    ///
    /// # Errors
    ///
    /// - The browser makes none, or it cannot be written.
    pub fn screenshot(&mut self, file: &Path) -> Result<(), String> {
        let answer = self.call("Page.captureScreenshot", json!({"format": "png"}))?;
        let png = answer["data"].as_str().and_then(base64::decode).ok_or("the picture is not base64")?;
        std::fs::write(file, png).map_err(|error| format!("{}: {error}", file.display()))
    }

    /// A picture among those of the scene, if these are wanted. `what` is part of its name.
    ///
    /// # Errors
    ///
    /// - As [`screenshot`](Self::screenshot).
    pub fn picture(&mut self, what: &str) -> Result<(), String> {
        match self.opt_pictures.as_mut().and_then(|pictures| pictures.file(what)) {
            Some(file) => self.screenshot(&file),
            None => Ok(()),
        }
    }

    /// What went wrong in scripts since the tab was opened: exceptions that nobody caught, errors and warnings in the
    /// console, what the browser itself complains about.
    pub fn console_errors(&mut self) -> Vec<String> {
        self.note();
        self.errors.clone()
    }

    /// What the page asked for besides itself: addresses of files and of the network. What it carries in itself, as `data:`
    /// and `blob:`, does not count.
    pub fn requests(&mut self) -> Vec<String> {
        self.note();
        self.requests.clone()
    }

    /// Everything that is wrong with the page as it stands: [`console_errors`](Self::console_errors),
    /// [`requests`](Self::requests), and [`overlapping_texts`](Self::overlapping_texts).
    ///
    /// # Errors
    ///
    /// - What was found; or the texts could not be looked at.
    pub fn check(&mut self) -> Result<(), String> {
        let mut found: Vec<String> =
            self.console_errors().into_iter().map(|error| format!("in the console: {error}")).collect();
        found.extend(self.requests().into_iter().map(|url| format!("the page asks for {url}")));
        found.extend(self.overlapping_texts()?);
        if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
    }

    /// Waits until the page has drawn a frame.
    pub(super) fn settle(&mut self) -> Result<(), String> {
        self.eval(NEXT_FRAME).map(drop).map_err(|error| format!("the page draws no frame: {error}"))
    }

    /// Asks the browser for something about this tab.
    pub(super) fn call(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.browser.call(Some(&self.session), method, params, ANSWER_LIMIT)
    }

    /// Notes what the page told meanwhile.
    fn note(&mut self) {
        for (method, params) in self.browser.events_of(&self.session) {
            let kind = text_of(&params["type"]);
            match method.as_str() {
                "Runtime.exceptionThrown" => self.errors.push(thrown(&params["exceptionDetails"])),
                "Runtime.consoleAPICalled" if ["error", "warning", "assert"].contains(&kind.as_str()) => {
                    let said = params["args"].as_array().into_iter().flatten().map(said);
                    self.errors.push(format!("{kind}: {}", said.collect::<Vec<_>>().join(" ")));
                }
                "Log.entryAdded" if ["error", "warning"].iter().any(|level| params["entry"]["level"] == *level) => {
                    self.errors.push(text_of(&params["entry"]["text"]));
                }
                "Network.requestWillBeSent" => self.request(&kind, text_of(&params["request"]["url"])),
                "Network.webSocketCreated" => self.request("WebSocket", text_of(&params["url"])),
                _ => {}
            }
        }
    }

    /// Keeps what is neither the page nor in it.
    fn request(&mut self, kind: &str, url: String) {
        let is_page = kind == "Document" && url == self.url;
        if !is_page && !["data:", "blob:", "about:"].iter().any(|own| url.starts_with(own)) {
            self.requests.push(url);
        }
    }
}

impl Drop for Tab<'_> {
    fn drop(&mut self) {
        // A page that hangs does not answer, and must not hold up the next one.
        let limit = Duration::from_secs(2);
        let _ = self.browser.call(None, "Target.closeTarget", json!({"targetId": self.target}), limit);
        let context = json!({"browserContextId": self.context});
        let _ = self.browser.call(None, "Target.disposeBrowserContext", context, limit);
        self.browser.events_of(&self.session);
    }
}

/// A string as JavaScript writes it.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The beginning of a script, on one line, for an error.
fn brief(js: &str) -> String {
    let line = js.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(120) {
        Some((end, _)) => format!("{}..", &line[..end]),
        None => line,
    }
}

/// What was thrown, with the place if it has one.
fn thrown(details: &Value) -> String {
    let exception = &details["exception"];
    match (exception["description"].as_str(), &exception["value"]) {
        (Some(described), _) => described.to_string(),
        (None, Value::Null) => text_of(&details["text"]),
        (None, value) => text_of(value),
    }
}

/// One argument of `console.error`.
fn said(argument: &Value) -> String {
    match &argument["value"] {
        Value::Null => text_of(&argument["description"]),
        value => text_of(value),
    }
}

/// A file's address. Whatever means something in an address is written as `%` and its number.
fn url_of(file: &Path) -> String {
    let mut url = "file://".to_string();
    for byte in file.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => url.push(char::from(*byte)),
            other => url.push_str(&format!("%{other:02X}")),
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_quotes_hold_odd_characters() {
        assert_eq!(url_of(Path::new("/a b/é#?.html")), "file:///a%20b/%C3%A9%23%3F.html");
        assert_eq!(quoted("a[b=\"c\"]"), r#""a[b=\"c\"]""#);
        assert_eq!(brief(&"é\n ".repeat(200)).chars().count(), 122);
    }
}
