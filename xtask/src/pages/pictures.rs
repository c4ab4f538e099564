//! Which pictures of a scene are kept, and under which names.
//!
//! All of them, numbered in the order in which they were taken, for one who looks for what is ugly; or the [`CHOSEN`] ones,
//! whose names stay the same, for one who wants to see what pages are: results/pages.

use std::path::{Path, PathBuf};

use super::file_name;

/// Pictures that show what pages are: scene, what is shown. One of each kind, one in the dark, one in a narrow window.
pub const CHOSEN: &[(&str, &str)] = &[
    ("graph/saxpy", "saxpy"),
    ("graph/flow", "dark"),
    ("graph/layers", "memory"),
    ("graph/timed", "bar"),
    ("graph/decoder-10000", "found"),
    ("program/failing-test", "op"),
    ("program/train", "found"),
    ("program/train", "narrow"),
    ("program/decode-4", "folded"),
    ("program/decode-compared", "embed"),
];

/// The pictures of one scene.
pub struct Pictures {
    folder: PathBuf,
    scene: String,
    are_chosen: bool,
    count: usize,
}

impl Pictures {
    /// Those of a scene go into this folder; only the [`CHOSEN`] ones, or all.
    pub fn new(folder: &Path, scene: &str, are_chosen: bool) -> Self {
        Self { folder: folder.to_path_buf(), scene: scene.to_string(), are_chosen, count: 0 }
    }

    /// The file for a picture that is taken now, if it is kept.
    pub fn file(&mut self, what: &str) -> Option<PathBuf> {
        self.count += 1;
        let name = file_name(&self.scene);
        let file = match self.are_chosen {
            true if !CHOSEN.contains(&(self.scene.as_str(), what)) => return None,
            true => format!("{name}-{what}.png"),
            // With its number, so that a listing shows them in order.
            false => format!("{name}-{}-{what}.png", self.count),
        };
        Some(self.folder.join(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    /// What the committed pictures may be: as many as one looks at, and no larger than a page.
    #[test]
    fn the_committed_pictures_are_the_chosen_ones_and_small() {
        let folder = workspace::root().join("results/pages");
        let files = std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
        let mut there: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|end| end == "png")).collect();
        there.sort();
        let chosen = CHOSEN.iter().map(|(scene, what)| Pictures::new(&folder, scene, true).file(what).unwrap());
        let mut chosen: Vec<PathBuf> = chosen.collect();
        chosen.sort();
        assert_eq!(there, chosen);
        for file in there {
            let bytes = file.metadata().unwrap().len();
            assert!(bytes < 150_000, "{}: {bytes} bytes", file.display());
        }
    }

    #[test]
    fn only_the_chosen_ones_are_kept_when_these_are_wanted_and_all_are_numbered_otherwise() {
        let mut chosen = Pictures::new(Path::new("shots"), "graph/saxpy", true);
        assert_eq!(chosen.file("opened"), None);
        assert_eq!(chosen.file("saxpy"), Some(PathBuf::from("shots/graph-saxpy-saxpy.png")));
        let mut all = Pictures::new(Path::new("shots"), "graph/saxpy", false);
        assert_eq!(all.file("opened"), Some(PathBuf::from("shots/graph-saxpy-1-opened.png")));
        assert_eq!(all.file("saxpy"), Some(PathBuf::from("shots/graph-saxpy-2-saxpy.png")));
    }
}
