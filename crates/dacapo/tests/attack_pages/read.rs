//! JSON by hand, in place of what was written.

use dacapo::inspect::Report;
use dacapo::page::Page;
use dacapo::profile::Profile;

use crate::kit::{Dice, profiles, rich, show};

/// A sentence: no more than a few lines, and nothing of how we are made.
#[track_caller]
fn expect_sentence(error: &dyn std::error::Error) {
    let text = error.to_string();
    assert!(text.starts_with("this ") && text.len() < 600, "{} bytes: {:.200}", text.len(), text);
}

#[track_caller]
fn read(text: &str) {
    match Page::from_json(text) {
        Ok(page) => show(&page),
        Err(error) => expect_sentence(&error),
    }
    Report::from_json(text).err().iter().for_each(|error| expect_sentence(error));
    Profile::from_json(text).err().iter().for_each(|error| expect_sentence(error));
    Page::from_html(text).err().iter().for_each(|error| expect_sentence(error));
}

#[test]
fn what_is_no_json_is_refused() {
    let deep = "[".repeat(100_000);
    let deep_page = format!("{{\"page\":1,\"report\":{deep}");
    let long = format!("{{\"version\":2,\"{}\":1}}", "x".repeat(100_000));
    let long_kind = rich().to_json().replacen("\"kernel\"", &format!("\"{}\"", "k".repeat(100_000)), 1);
    for text in [
        "",
        " ",
        "null",
        "[]",
        "{}",
        "0",
        "\"\"",
        "{\"page\":null}",
        "{\"page\":-1}",
        "{\"page\":1}",
        "{\"page\":1.5}",
        "{\"page\":1e400}",
        "{\"version\":99999999999999999999}",
        "{\"version\":2}",
        "{\"version\":1}",
        "\u{feff}{}",
        "{\"page\":1,\"page\":1}",
        &deep,
        &deep_page,
        &long,
        &long_kind,
        "<script type=\"application/json\" id=\"data\">",
        "<script type=\"application/json\" id=\"data\"></script>",
    ] {
        read(text);
    }
}

/// One character, line or number changed.
#[test]
fn what_was_changed_by_hand_is_refused_or_shown() {
    let (replay, eager) = profiles();
    let page = Page::new(rich()).since(rich()).profile(replay.clone()).profile(eager);
    for text in [page.to_json(), rich().to_json(), replay.to_json()] {
        let lines: Vec<&str> = text.lines().collect();
        for seed in 0..300 {
            let mut dice = Dice(seed);
            let mut changed: Vec<String> = lines.iter().map(|line| (*line).to_string()).collect();
            for _ in 0..1 + dice.below(3) {
                let at = dice.below(changed.len());
                let odd =
                    ["null", "-1", "0", "1e308", "18446744073709551615", "\"\"", "[]", "{}", "true"][dice.below(9)];
                match dice.below(4) {
                    0 => drop(changed.remove(at)),
                    1 => changed.swap(0, at),
                    _ => {
                        let comma = if changed[at].ends_with(',') { "," } else { "" };
                        let (before, _) = changed[at].split_once(": ").unwrap_or_default();
                        changed[at] =
                            if before.is_empty() { format!("{odd}{comma}") } else { format!("{before}: {odd}{comma}") };
                    }
                }
            }
            let shown = std::panic::catch_unwind(|| read(&changed.join("\n")));
            assert!(shown.is_ok(), "seed {seed} of a text of {} lines", lines.len());
        }
    }
}
