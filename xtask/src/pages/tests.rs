//! The harness sees what is wrong with a page. Each test starts a browser of its own; without Chromium none of them runs,
//! and each says so.

use super::*;

/// A browser, or none on this machine.
fn browser() -> Option<Browser> {
    let program = browser::find().unwrap();
    if program.is_none() {
        println!("{}", not_run());
    }
    program.map(|program| Browser::start(&program).unwrap())
}

/// Writes a page with this body, and opens it.
fn open<'b>(browser: &'b mut Browser, name: &str, body: &str) -> Tab<'b> {
    let file = file_of(name);
    std::fs::write(&file, format!("<!doctype html><meta charset=utf-8><title>{name}</title>{body}")).unwrap();
    let mut tab = Tab::new(browser).unwrap();
    tab.open(&file).unwrap();
    tab
}

/// With a space and a mark in its name, which an address has to quote.
fn file_of(name: &str) -> PathBuf {
    let folder = workspace::target(&workspace::root()).join("pages");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(format!("a test #{name}.html"))
}

/// Texts as they are, at the same place or not.
fn placed(texts: &[(&str, u32, u32)]) -> String {
    let place = |(text, x, y): &(&str, u32, u32)| {
        format!("<div style='position: absolute; left: {x}px; top: {y}px; font: 16px monospace'>{text}</div>")
    };
    texts.iter().map(place).collect()
}

#[test]
fn the_page_that_is_right_passes_and_leaves_pictures() {
    let Some(mut browser) = browser() else { return };
    let folder = workspace::target(&workspace::root()).join("pages").join("test-pictures");
    std::fs::create_dir_all(&folder).unwrap();
    let scene = Scene { name: "test/right", write: self_check::write, script: self_check::script };
    let scale = Scale { screenshots: Some(folder.clone()), ..Scale::default() };
    let times = play(&mut browser, &scene, &folder, &scale).unwrap();
    assert!(times.loaded > Duration::ZERO && times.loaded < Duration::from_secs(20), "{:?}", times.loaded);
    let size_of = |name: &str| {
        let png = std::fs::read(folder.join(name)).unwrap();
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n", "{name}");
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        (number(16), number(20))
    };
    assert_eq!(size_of("test-right-1-opened.png"), (1280, 800));
    assert_eq!(size_of("test-right-3-done.png"), (500, 700));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_scene_that_fails_says_how() {
    let Some(mut browser) = browser() else { return };
    let folder = file_of("").parent().unwrap().to_path_buf();
    let write: fn(&Path) -> Result<(), String> =
        |file| scenes::write(file, "<!doctype html><button onclick='gone()'>go</button>");
    let play = |browser: &mut Browser, script| {
        play(browser, &Scene { name: "test/wrong", write, script }, &folder, &Scale::default()).err().unwrap()
    };
    let error = play(&mut browser, |tab| tab.click("button"));
    assert!(error.starts_with("when its script was done: in the console: ReferenceError: gone"), "{error}");
    let error = play(&mut browser, |tab| tab.click("button").and_then(|()| tab.holds("1 > 2")));
    assert!(error.starts_with("`1 > 2` is not true\nand then: in the console: ReferenceError"), "{error}");
    let error = play(&mut browser, |_| panic!("a mistake of the script"));
    assert_eq!(error, "it panicked: a mistake of the script");
    let unmade = Scene { name: "test/unmade", write: |_| Err("no report".to_string()), script: |_| Ok(()) };
    assert_eq!(
        super::play(&mut browser, &unmade, &folder, &Scale::default()).err().unwrap(),
        "its page was not made: no report"
    );
}

#[test]
fn texts_that_nobody_can_read_are_found() {
    let Some(mut browser) = browser() else { return };
    let mut found = |body: &str| open(&mut browser, "texts", body).overlapping_texts().unwrap();
    let none: [&str; 0] = [];
    assert_eq!(found(&placed(&[("left", 0, 0), ("right", 60, 0), ("below", 0, 20)])), none);
    let overlap = found(&placed(&[("one text", 0, 0), ("another", 40, 5)]));
    assert_eq!(overlap.len(), 1, "{overlap:?}");
    assert!(overlap[0].starts_with(r#""one text" in <div> and "another" in <div> overlap, "#), "{overlap:?}");
    let svg = |y: u32| {
        format!(
            "<svg viewBox='0 0 100 100' width=400 height=400><g transform='translate(10 10)'>\
                 <text id=a y=10 font-size=8>first</text><text class='b c' y={y} font-size=8>second</text></g></svg>"
        )
    };
    assert_eq!(found(&svg(22)), none);
    let overlap = found(&svg(14));
    assert!(overlap[0].starts_with(r#""first" in <text#a> and "second" in <text.b.c> overlap"#), "{overlap:?}");
    let cut = |style: &str| {
        let style = format!("width: 60px; white-space: nowrap; {style}");
        format!("<p id=p style='{style}'>a text that is much too long</p>")
    };
    assert_eq!(found(&cut("overflow: hidden")), [r#""a text that is much too long" in <p#p> is cut off by <p#p>"#]);
    assert_eq!(found(&cut("overflow: hidden; text-overflow: ellipsis")), none);
    assert_eq!(found(&cut("overflow: auto")), none, "one can scroll there");
    assert_eq!(found(&cut("")), [r#""a text that is much too long" in <p#p> is wider than <p#p>"#]);
    let half = "<div style='height: 10px; overflow: hidden; font: 16px monospace'>the lower half is gone</div>";
    assert_eq!(found(half).len(), 1);
}

#[test]
fn what_cannot_be_seen_does_not_overlap() {
    let Some(mut browser) = browser() else { return };
    let mut found = |style: &str| {
        let style = format!("position: absolute; left: 0; top: 0; font: 16px monospace; {style}");
        let body = format!("{}<div style='{style}'>above it</div>", placed(&[("below it", 0, 0)]));
        open(&mut browser, "hidden", &body).overlapping_texts().unwrap().len()
    };
    assert_eq!(found(""), 1);
    let hides = ["visibility: hidden", "opacity: 0", "display: none", "background: white; padding: 4px"];
    for hidden in hides {
        assert_eq!(found(hidden), 0, "{hidden}");
    }
    assert_eq!(found("background: rgba(255, 255, 255, 0.3); padding: 4px"), 1, "one sees through it");
    let group = |style: &str| {
        format!("<svg><text y=20>one</text><g style='{style}'><g><text y=22>t<tspan>wo</tspan></text></g></g></svg>")
    };
    assert_eq!(open(&mut browser, "hidden", &group("")).overlapping_texts().unwrap().len(), 2);
    for hidden in ["display: none", "visibility: hidden", "opacity: 0"] {
        assert_eq!(open(&mut browser, "hidden", &group(hidden)).overlapping_texts().unwrap().len(), 0, "{hidden}");
    }
    let outside = "<div style='position: absolute; left: -999px'>one<div style='margin-top: -1em'>two</div></div>";
    assert_eq!(open(&mut browser, "hidden", outside).overlapping_texts().unwrap().len(), 0, "nobody gets there");
    assert_eq!(open(&mut browser, "hidden", &outside.replace("-999", "99")).overlapping_texts().unwrap().len(), 1);
    let button = "<div style='position: absolute; left: 0; top: 0'><button style='padding: 4px'>on top</button></div>";
    let body = format!("{}{button}", placed(&[("below it", 4, 4)]));
    assert_eq!(open(&mut browser, "hidden", &body).overlapping_texts().unwrap().len(), 0);
    let scrolled = "<div style='height: 20px; overflow: auto; font: 16px monospace'>seen<br>away<br>far away</div>next";
    assert_eq!(open(&mut browser, "scrolled", scrolled).overlapping_texts().unwrap().len(), 0);
}

#[test]
fn ten_thousand_texts_are_looked_at_in_seconds() {
    let Some(mut browser) = browser() else { return };
    let mut texts = String::new();
    for at in 0..10_000 {
        let (x, y) = (at % 100 * 60, at / 100 * 20);
        texts += &format!("<text x={x} y={y} font-size=12>n{at}</text>");
    }
    let last = "<text x=5940 y=1985 font-size=12>on the last</text>";
    let svg = |texts: &str| format!("<svg width=6200 height=2100 viewBox='0 -20 6200 2100'>{texts}</svg>");
    let mut tab = open(&mut browser, "many", &svg(&texts));
    let began = Instant::now();
    assert_eq!(tab.overlapping_texts().unwrap(), [""; 0]);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    drop(tab);
    let found = open(&mut browser, "many", &svg(&(texts + last))).overlapping_texts().unwrap();
    assert!(found.len() == 1 && found[0].starts_with(r#""n9999" in <text> and "on the last""#), "{found:?}");
    // All in one place: told of some, and not of fifty million.
    let heap: String = (0..10_000).map(|at| format!("<text y=20>n{at}</text>")).collect();
    let began = Instant::now();
    assert_eq!(open(&mut browser, "heap", &svg(&heap)).overlapping_texts().unwrap().len(), 41);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

#[test]
fn what_the_console_says_is_kept() {
    let Some(mut browser) = browser() else { return };
    let mut said = |script: &str| {
        let mut tab = open(&mut browser, "console", &format!("<p>page</p><script>{script}</script>"));
        tab.wait_until("!window.waiting", Duration::from_secs(5)).unwrap();
        tab.console_errors()
    };
    assert_eq!(said("console.log('fine'); console.info('fine')"), [""; 0]);
    assert_eq!(said("console.error('a', 1, {b: 2})"), ["error: a 1 Object"]);
    assert_eq!(said("console.warn('odd')"), ["warning: odd"]);
    assert!(said("missing.name")[0].starts_with("ReferenceError: missing is not defined"));
    assert!(
        said("waiting = 1; Promise.reject(new Error('late')); setTimeout(() => waiting = 0, 50)")[0].contains("late")
    );
}

#[test]
fn requests_are_seen_and_lead_nowhere() {
    let Some(mut browser) = browser() else { return };
    let mut asked = |body: &str| open(&mut browser, "requests", body).requests();
    let own = "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA='>";
    assert_eq!(asked(own), [""; 0], "the page itself, and what is in it");
    assert_eq!(asked("<img src='http://example.com/a.png'>"), ["http://example.com/a.png"]);
    assert_eq!(asked("<iframe src='https://example.com/'></iframe>"), ["https://example.com/"]);
    assert_eq!(
        asked("<style>@font-face { font-family: f; src: url(f.ttf) } p { font-family: f }</style><p>t</p>").len(),
        1
    );
    assert_eq!(asked("<script>new WebSocket('ws://example.com/')</script>"), ["ws://example.com/"]);
    // Somebody is there to answer, and is not reached.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let fetch = format!("fetch('{url}', {{mode: 'no-cors'}}).then(() => 'reached', error => String(error))");
    let mut tab = open(&mut browser, "requests", "<p>text</p>");
    assert_eq!(tab.eval(&fetch).unwrap(), "TypeError: Failed to fetch");
    assert_eq!(tab.requests(), [url]);
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    drop(tab);
    let mut tab = open(&mut browser, "requests", "<img src='http://example.com/a.png'>");
    let error = tab.check().unwrap_err();
    assert!(error.contains("the page asks for http://example.com/a.png"), "{error}");
}

#[test]
fn what_is_covered_or_out_of_sight_is_not_clicked() {
    let Some(mut browser) = browser() else { return };
    let veil = "<div class='veil all' style='position: fixed; inset: 0'>in the way</div>";
    let mut click = |body: &str| {
        let body = format!("<button onclick='this.dataset.hit = 1'>go</button>{body}");
        let mut tab = open(&mut browser, "covered", &body);
        let clicked = tab.click("button");
        (clicked, tab.count("[data-hit]").unwrap())
    };
    assert_eq!(click(""), (Ok(()), 1));
    let (refused, hits) = click(veil);
    let error = refused.unwrap_err();
    assert!(error.starts_with("`button` cannot be clicked: <div.veil.all> \"in the way\" covers it at "), "{error}");
    assert_eq!(hits, 0);
    let error = click("<style>button { display: none }</style>").0.unwrap_err();
    assert!(error.ends_with("it is not displayed"), "{error}");
    let error = click("<style>button { position: fixed; left: -500px }</style>").0.unwrap_err();
    assert!(error.contains("nothing of it can be seen"), "{error}");
    assert_eq!(click("<style>button { position: absolute; top: 5000px }</style>"), (Ok(()), 1), "scrolled to");
    let mut tab = open(&mut browser, "covered", "<p>text</p>");
    assert_eq!(tab.click("button").unwrap_err(), "`button` cannot be clicked: nothing is selected");
    assert_eq!(tab.text("button").unwrap_err(), "nothing is selected by `button`");
    assert!(tab.click("b[").unwrap_err().contains("is not a valid selector"));
}

#[test]
fn what_does_not_come_is_told_and_the_next_tab_works() {
    let Some(mut browser) = browser() else { return };
    let mut tab = open(&mut browser, "errors", "<p>text</p>");
    let error = tab.eval("(() => { throw new TypeError('wrong') })()").unwrap_err();
    assert!(error.contains("throws: TypeError: wrong"), "{error}");
    assert_eq!(tab.eval("Promise.reject('no')").unwrap_err(), "`Promise.reject('no')` throws: no");
    assert_eq!(tab.eval("0 / 0").unwrap(), "NaN");
    let error = tab.wait_until("window.never", Duration::from_millis(100)).unwrap_err();
    assert_eq!(error, "`window.never` did not become true within 0.1 s");
    let error = tab.eval("alert('hello')").unwrap_err();
    assert!(error.starts_with("the page shows a dialog that says `hello`, while the answer"), "{error}");
    drop(tab);
    let error = Tab::new(&mut browser).unwrap().open(Path::new("gone.html")).unwrap_err();
    assert!(error.starts_with("gone.html: "), "{error}");
    let error = browser.call(None, "Browser.gone", serde_json::json!({}), Duration::from_secs(9)).unwrap_err();
    assert!(error.starts_with("Chromium refused `Browser.gone`: "), "{error}");
    let error = browser.wait_for("nobody", "Page.gone", Duration::from_millis(100)).unwrap_err();
    assert_eq!(error, "`Page.gone` did not come within 0.1 s");
    assert_eq!(open(&mut browser, "errors", "<p>again</p>").text("p").unwrap(), "again");
}

#[test]
fn a_browser_leaves_nothing_behind_also_after_a_panic() {
    let Some(mut browser) = browser() else { return };
    let home = browser.home().to_path_buf();
    assert!(home.is_dir());
    let caught = caught::<()>(|| {
        open(&mut browser, "panic", "<p>text</p>").holds("true").unwrap();
        let _moved = browser;
        panic!("in the middle");
    });
    assert_eq!(caught.unwrap_err(), "it panicked: in the middle");
    assert!(!home.exists());
    // Every process of a browser has its home among its arguments; the last ones notice a moment later that it is over.
    let home = home.display().to_string();
    let is_left = || {
        let running = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut arguments = running.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        arguments.any(|arguments| String::from_utf8_lossy(&arguments).contains(&home))
    };
    let deadline = Instant::now() + Duration::from_secs(10);
    while is_left() {
        assert!(Instant::now() < deadline, "a process of the browser is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}
