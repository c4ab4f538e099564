//! A profile as a timeline.

use std::fmt::Write as _;

use crate::inspect::draw::{Escaped, Short};

use super::{Clock, Profile, Timed};

/// What is left of the time axis, the axis, and a lane.
const LEFT: f64 = 64.0;
const WIDE: f64 = 960.0;
const LANE: f64 = 26.0;
const TOP: f64 = 46.0;
const CHARACTER: f64 = 6.2;

const STYLE: &str = "<style>
.timeline { color-scheme: light dark; --paper: #ffffff; --ink: #1c2330; --soft: #667085; --rule: #d9dde4; --bar: #c7d7f7; --edge: #5b7dc2; --bold: #1c2330; --gap: #f2c0b9; }
@media (prefers-color-scheme: dark) {
  .timeline { --paper: #14181f; --ink: #e6eaf2; --soft: #98a2b3; --rule: #333c4a; --bar: #2c4270; --edge: #7d9cdb; --bold: #ffffff; --gap: #6b3a35; }
}
.timeline .paper { fill: var(--paper); }
.timeline text { font: 10.5px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: var(--ink); direction: ltr; unicode-bidi: isolate; white-space: pre; }
.timeline .soft { fill: var(--soft); }
.timeline .time rect { fill: var(--bar); stroke: var(--edge); }
.timeline .time.critical rect { stroke: var(--bold); stroke-width: 1.6; }
.timeline .time.inner rect { fill: var(--paper); }
.timeline .gap { fill: var(--gap); }
.timeline .rule { fill: var(--rule); }
</style>
";

impl Profile {
    /// The profile as a timeline in SVG: a bar for each op, from its start to its end, in lanes as they overlapped.
    ///
    /// The critical path has a bold edge, and the time for which an op on it sat ready before it began is red. Ops inside a loop
    /// or branch are smaller bars in that of theirs, where their last run was. Times of the software device are counts, and
    /// are called that.
    ///
    /// ```
    /// # fn main() -> dacapo::Result<()> {
    /// # let device = dacapo::Device::software()?;
    /// # let stream = device.stream()?;
    /// let mut y = device.zeros::<f32>(1024)?;
    /// let mut graph = device.graph().label("clear").record(dacapo::fill(&mut y, dacapo::baked(1.0)))?;
    /// let timeline = graph.profile(&stream)?.to_svg();
    /// assert!(timeline.starts_with("<svg") && timeline.contains("fill") && timeline.contains("counted"));
    /// # Ok(()) }
    /// ```
    pub fn to_svg(&self) -> String {
        self.svg_over(self.total_ns)
    }

    /// The same over a longer time, so that two can be compared.
    pub(crate) fn svg_over(&self, span_ns: u64) -> String {
        let lanes = self.lanes().clamp(1, LANES_MAX);
        let (width, height) = (LEFT + WIDE + 100.0, TOP + LANE * lanes as f64 + 8.0);
        let x = |ns: u64| LEFT + WIDE * ns as f64 / span_ns.max(1) as f64;
        let mut to = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" data-left=\"{LEFT}\" data-wide=\"{width}\" class=\"timeline\" role=\"img\">\n<title>{0}</title>\n{STYLE}<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n<text x=\"10\" y=\"18\">{0}</text>\n",
            Escaped(&self.about())
        );
        for at in ticks(span_ns) {
            let place = Short(x(at));
            writeln!(
                to,
                "<rect class=\"rule\" data-x=\"{place}\" x=\"{place}\" data-w=\"0\" y=\"{}\" width=\"1\" height=\"{}\"/>\
                 <text class=\"soft\" data-x=\"{place}\" x=\"{}\" y=\"{}\">{}</text>",
                TOP - 14.0,
                height - TOP + 14.0,
                Short(x(at) + 3.0),
                TOP - 5.0,
                self.clock.tick(at),
            )
            .expect("writing to a string");
        }
        for lane in 0..lanes {
            let y = TOP + LANE * lane as f64 + 16.0;
            writeln!(to, "<text class=\"soft\" x=\"10\" y=\"{y}\">lane {lane}</text>").expect("writing to a string");
        }
        let drawn = || self.ops.iter().filter(|op| op.runs > 0 && op.lane < LANES_MAX);
        drawn().filter(|op| op.critical && op.gap_ns > 0).for_each(|op| gap(op, &x, &mut to));
        drawn().for_each(|op| self.bar(op, &x, &mut to));
        to.push_str("</svg>\n");
        to
    }

    fn bar(&self, op: &Timed, x: &dyn Fn(u64) -> f64, to: &mut String) {
        let (left, width) = (x(op.start_ns), (x(op.end_ns) - x(op.start_ns)).max(1.0));
        let depth = self.depth(op).min(3) as f64;
        let (top, height) = (TOP + LANE * op.lane as f64 + 3.0 + 4.0 * depth, LANE - 6.0 - 4.0 * depth);
        let class = match (op.critical, op.inside.is_some()) {
            (true, _) => " critical",
            (false, true) => " inner",
            (false, false) => "",
        };
        let name: String = op.name.chars().take(120).collect();
        let place = format!("data-x=\"{0}\" data-w=\"{1}\"", Short(left), Short(width));
        write!(
            to,
            "<g class=\"time{class}\" data-timed=\"{}\"><title>{} {}: {}</title><rect {place} x=\"{}\" width=\"{}\" y=\"{}\" height=\"{}\" rx=\"2\"/>",
            op.index,
            op.index,
            Escaped(&name),
            self.clock.told(op.time_ns),
            Short(left),
            Short(width),
            Short(top),
            Short(height),
        ).expect("writing to a string");
        if name.is_ascii() && name.len() <= 40 && height >= 12.0 && !self.has_inner(op) {
            let shown = if name.len() as f64 * CHARACTER + 6.0 > width { " style=\"display: none\"" } else { "" };
            let y = Short(top + height / 2.0 + 4.0);
            write!(to, "<text {place}{shown} x=\"{}\" y=\"{y}\">{}</text>", Short(left + 3.0), Escaped(&name))
                .expect("writing to a string");
        }
        to.push_str("</g>\n");
    }

    /// How many loops and branches an op is in. If you changed the fields, an op that is inside a later one is in none.
    fn depth(&self, op: &Timed) -> usize {
        let (mut depth, mut at) = (0, op);
        while let Some(outer) = at.inside.filter(|outer| *outer < at.index).and_then(|outer| self.ops.get(outer)) {
            depth += 1;
            if outer.index >= at.index {
                break;
            }
            at = outer;
        }
        depth
    }

    fn has_inner(&self, op: &Timed) -> bool {
        let is_outer = matches!(
            op.kind,
            crate::inspect::Kind::Loop | crate::inspect::Kind::Branch | crate::inspect::Kind::Guarded
        );
        is_outer && self.ops.iter().skip(op.index).any(|inner| inner.inside == Some(op.index) && inner.runs > 0)
    }

    /// The first line.
    fn about(&self) -> String {
        let short = |text: &str| text.chars().take(60).collect::<String>();
        let (label, device) = (short(&self.label), short(&self.device));
        let of = if label.is_empty() { String::new() } else { format!(" of `{label}`") };
        format!(
            "{}{of} on {device}: critical path {}, all ops together {}, at most {} at a time",
            if self.eager { "an eager run" } else { "one replay" },
            self.clock.told(self.critical_ns()),
            self.clock.told(self.sum_ns()),
            self.lanes()
        )
    }
}

/// At most eight round numbers from 0 on.
fn ticks(span: u64) -> impl Iterator<Item = u64> {
    let mut step = 1u64;
    // 1, 2, 5, 10, 20, ..
    for factor in [2, 5, 10].into_iter().cycle().scan(1u64, |tens, factor| {
        let next = tens.checked_mul(factor)?;
        *tens = if factor == 10 { next } else { *tens };
        Some(next)
    }) {
        if span / step < 8 {
            break;
        }
        step = factor;
    }
    (0..=span / step).map(move |tick| tick * step)
}

/// The time for which an op sat ready before it began.
fn gap(op: &Timed, x: &dyn Fn(u64) -> f64, to: &mut String) {
    let (from, until) = (x(op.start_ns.saturating_sub(op.gap_ns)), x(op.start_ns));
    let place = format!("data-x=\"{0}\" x=\"{0}\" data-w=\"{1}\" width=\"{1}\"", Short(from), Short(until - from));
    let y = Short(TOP + LANE * op.lane as f64 + 9.0);
    writeln!(to, "<rect class=\"gap\" {place} y=\"{y}\" height=\"8\"/>").expect("writing to a string");
}

/// More lanes than this are not drawn.
const LANES_MAX: usize = 64;

impl Clock {
    /// A round number with its unit.
    fn tick(self, ns: u64) -> String {
        match self {
            Clock::Gpu => format!("{} us", ns as f64 / 1000.0),
            Clock::Software => format!("{ns} counted"),
        }
    }

    /// A number with its unit.
    pub(crate) fn told(self, ns: u64) -> String {
        match self {
            Clock::Gpu => format!("{:.2} us", ns as f64 / 1000.0),
            Clock::Software => format!("{ns} counted"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ticks;

    #[test]
    fn ticks_are_few_and_round() {
        let all = |span| ticks(span).collect::<Vec<_>>();
        assert_eq!(all(7), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(all(8), [0, 2, 4, 6, 8]);
        assert_eq!(all(282_430), [0, 50_000, 100_000, 150_000, 200_000, 250_000]);
        for span in [0, 1, 999, 1 << 40, u64::MAX] {
            assert!((1..=8).contains(&all(span).len()), "{span}");
        }
    }
}
