//! What is shown in every way there is, and what must be true of it.

use std::time::{Duration, Instant};

use dacapo::graph::Edge;
use dacapo::inspect::{Access, Argument, Bytes, How, KernelOf, Kind, Memory, MemoryKind, Node, Place, Report, diff};
use dacapo::page::Page;
use dacapo::profile::{By, Profile};
use dacapo::{Device, Recorder, baked, copy, fill};

/// No page may take longer. They take milliseconds; this is for a machine that does much else.
pub const LONG: Duration = Duration::from_secs(20);

/// Every tag is closed, in the order in which it was opened; no text has a loose `<`, `>` or `&`, and no character that XML
/// forbids.
#[track_caller]
pub fn expect_well_formed(svg: &str) {
    let mut open = Vec::new();
    let mut rest = svg;
    let is_forbidden =
        |c: char| matches!(c, '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\u{fffe}' | '\u{ffff}');
    assert!(!svg.contains(is_forbidden), "a character that XML forbids");
    for (at, _) in svg.match_indices('&') {
        let entity = svg[at + 1..].split(';').next().unwrap();
        assert!(matches!(entity, "amp" | "lt" | "gt" | "quot" | "#39"), "a loose &");
    }
    while let Some(start) = rest.find('<') {
        assert!(!rest[..start].contains('>'), "a loose >");
        let end = start + rest[start..].find('>').expect("a tag that ends");
        let tag = &rest[start + 1..end];
        assert!(tag.matches('"').count().is_multiple_of(2), "a loose quote in {tag}");
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "closed"),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split([' ', '\n']).next().unwrap()),
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?} are never closed");
    for tag in svg.split('<').filter_map(|tag| tag.split('>').next()) {
        let is_number = |text: &str| text.contains("NaN") || text.contains("inf");
        assert!(!is_number(tag) || tag.starts_with("style"), "a coordinate that is none: {tag}");
    }
}

/// It has the three scripts of every page and no other, its drawings are well-formed, and what is in it can be read back.
#[track_caller]
pub fn expect_page(html: &str) {
    assert!(html.starts_with("<!doctype html>\n") && html.ends_with("</html>\n"));
    assert_eq!((html.matches("<script").count(), html.matches("</script").count()), (3, 3), "scripts");
    let mut rest = html;
    let mut drawings = 0;
    while let Some((_, from)) = rest.split_once("<svg ") {
        let end = from.find("</svg>").expect("a drawing that ends") + "</svg>".len();
        expect_well_formed(&format!("<svg {}", &from[..end]));
        rest = &from[end..];
        drawings += 1;
    }
    assert!(drawings > 0, "a page has a drawing");
    // Up to the data there is markup alone, and all of it is ours.
    let markup = html.split_once("<script").unwrap().0;
    for tag in ["<img", "<b>", "<iframe", " onerror=\"", "<a ", "<object"] {
        assert!(!markup.contains(tag), "{tag}");
    }
    let page = Page::from_html(html).expect("what was written is read");
    assert_eq!(Page::from_html(&page.html()).unwrap(), page, "and stays as it is");
}

/// Shows a page, and each part of it, in every way there is.
#[track_caller]
pub fn show(page: &Page) {
    let began = Instant::now();
    for report in [Some(&page.report), page.before.as_ref()].into_iter().flatten() {
        expect_well_formed(&report.to_svg());
        report.memory_svg().iter().for_each(|svg| expect_well_formed(svg));
        assert!(report.to_dot().starts_with("digraph"));
        assert!(report.to_string().starts_with("graph"));
        assert!(report.to_json().starts_with('{'));
        (0..report.nodes.len().min(50)).for_each(|node| assert!(report.waits(node).len() <= 64));
        assert!(report.waits(usize::MAX).is_empty());
        let own = diff(report, report);
        assert!(own.is_empty(), "{own}");
    }
    for profile in [&page.profile, &page.eager].into_iter().flatten() {
        expect_well_formed(&profile.to_svg());
        assert!(profile.table(By::Start).starts_with("profile") && profile.table(By::Time).starts_with("profile"));
        assert!(profile.trace().starts_with('{') && profile.to_json().starts_with('{'));
        let _ = (profile.critical_ns(), profile.sum_ns(), profile.lanes(), profile.rounds(usize::MAX));
    }
    if let Some(before) = &page.before {
        let _ = (diff(before, &page.report).to_string(), diff(&page.report, before).to_string());
        let _ = dacapo::inspect::frozen_changes(before, &page.report);
    }
    expect_page(&page.html());
    assert!(page.to_json().starts_with('{'));
    assert!(began.elapsed() < LONG, "it took {:?}", began.elapsed());
}

/// A node that touches bytes of memories.
pub fn op(name: &str, label: &str, memories: &[usize]) -> Node {
    let mut node = Node::new(Kind::Kernel, name);
    node.label = label.to_string();
    node.location = Some(Place::new("src/main.rs", 7, 9));
    let slice = |memory| How::Slice { memory, bytes: Bytes::new(0, 64), access: Access::ReadWrite };
    node.arguments = memories.iter().map(|memory| Argument::new(format!("x{memory}"), slice(*memory))).collect();
    (node.bytes_read, node.bytes_written) = (64, 64);
    node
}

/// A report with everything in it: labels, a branch and a loop with bodies, joins, temps, kernels.
pub fn rich() -> Report {
    let mut nodes: Vec<Node> = (0..12).map(|at| op(&format!("k{at}"), &format!("a/b{}", at / 3), &[at % 4])).collect();
    (nodes[2].kind, nodes[5].kind, nodes[9].kind) = (Kind::Branch, Kind::Loop, Kind::Join);
    nodes[3].inside = Some(dacapo::inspect::Inside::new(2, 0));
    nodes[4].inside = Some(dacapo::inspect::Inside::new(2, 1));
    nodes[6].inside = Some(dacapo::inspect::Inside::new(5, 0));
    nodes[7].inside = Some(dacapo::inspect::Inside::new(5, 0));
    nodes[8].kernel = Some(0);
    let temp = |at: u64| {
        let mut memory = Memory::new(MemoryKind::Temp, format!("t{at}"), 64, 256);
        memory.offset = Some(at * 64);
        memory
    };
    let edges = (1..12).flat_map(|at| [(at - 1, at, Edge::Full), (at / 2, at, Edge::Waits)]).collect();
    let mut report = Report::new("a device", "step", nodes, (0..4).map(temp).collect(), edges);
    report.kernels.push(KernelOf::new("k8", "_k8", "fn k8()"));
    report
}

/// The profile of a replay, and of an eager run.
pub fn profiles() -> (Profile, Profile) {
    let device = Device::software().unwrap();
    let stream = device.stream().unwrap();
    let (mut x, mut y) = (device.zeros::<u32>(64).unwrap(), device.zeros::<u32>(64).unwrap());
    let record = |r: &mut Recorder<'_>| {
        for _ in 0..6 {
            r.run(fill(&mut x, baked(1)))?;
            r.run(copy(&x, &mut y))?;
        }
        Ok(())
    };
    let mut graph = device.graph().label("timed").record(record).unwrap();
    (graph.profile(&stream).unwrap(), stream.profile(graph.as_op()).unwrap())
}

/// Numbers from a seed (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.roll() % n.max(1) as u64) as usize
    }

    /// A number that something may be off by.
    pub fn odd(&mut self) -> u64 {
        let few = self.roll() % 14;
        [few, 0, 1, u64::MAX, u64::MAX - 1, u64::MAX / 2, 1 << 32, 1 << 53, i64::MAX as u64, few, few][self.below(11)]
    }
}
