//! What goes over a connection between a rank and its hub: frames with their length before them.
//!
//! Who is at the other end may be anybody. A length is held against a limit, memory is taken only as bytes arrive, and what is
//! inside is read with every length checked: a frame that makes no sense is an error, never a panic.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dacapo_nccl::types::ncclResult;

use super::content::Content;
use super::element::{Element, Reduction};
use super::id::Token;
use super::meeting::Outcome;
use super::report::Trouble;
use super::transfer::{Kind, Said, Told};
use crate::finding::{Ending, Finding, FindingOp};

/// No frame has more bytes.
pub(crate) const FRAME_MAX: usize = 256 << 20;
/// No text has more bytes.
const TEXT_MAX: usize = 4096;
/// No list of calls, places or notes has more entries.
const LIST_MAX: usize = 65_536;
/// So many ranges that nobody has written are told of each call; what is behind them counts as written.
const RANGES_MAX: usize = 512;
/// More than is said of a call beside its bytes.
pub(crate) const SAID_MAX: u64 = 4 * TEXT_MAX as u64 + 16 * RANGES_MAX as u64;
const MAGIC: [u8; 8] = *b"dacaporg";

/// The first words of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) token: Token,
    pub(crate) ranks: u32,
    pub(crate) rank: u32,
    /// Names its machine.
    pub(crate) machine: u64,
    /// How long it waits for the others.
    pub(crate) patience_ms: u64,
}

pub(crate) const HELLO_BYTES: usize = 48;

impl Hello {
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.token);
        bytes.extend(self.ranks.to_le_bytes());
        bytes.extend(self.rank.to_le_bytes());
        bytes.extend(self.machine.to_le_bytes());
        bytes.extend(self.patience_ms.to_le_bytes());
        bytes
    }

    pub(crate) fn read(bytes: &[u8; HELLO_BYTES]) -> Option<Hello> {
        let mut body = Body(bytes);
        if body.array::<8>()? != MAGIC {
            return None;
        }
        Some(Hello {
            token: body.array()?,
            ranks: body.u32()?,
            rank: body.u32()?,
            machine: body.u64()?,
            patience_ms: body.u64()?,
        })
    }
}

/// What a rank and its hub say to each other after that.
#[derive(Clone, Debug)]
pub(crate) enum Frame {
    /// The hub does not take the rank.
    Refused(ncclResult, String),
    /// All ranks are in one machine: the connection ends.
    Local,
    /// They are not: the connection stays.
    Remote,
    /// A rank comes with a piece of work.
    Offer(Vec<(Said, Content)>),
    /// A rank has left, or has aborted, or its device is broken, with the reason.
    Left,
    Aborted,
    Lost(String),
    /// The results of the rank's piece.
    Done(Vec<Outcome>),
    Broken(Trouble),
}

impl Frame {
    /// The frame with its length before it.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut to = vec![0; 4];
        match self {
            Frame::Refused(code, text) => {
                to.push(1);
                put_u32(&mut to, code.0 as u32);
                put_text(&mut to, text);
            }
            Frame::Local => to.push(2),
            Frame::Remote => to.push(3),
            Frame::Offer(calls) => {
                to.push(4);
                put_u32(&mut to, calls.len() as u32);
                for (said, data) in calls {
                    put_said(&mut to, said);
                    put_content(&mut to, data.bytes(), data.unwritten(0..data.bytes().len()));
                }
            }
            Frame::Left => to.push(5),
            Frame::Aborted => to.push(6),
            Frame::Lost(why) => {
                to.push(7);
                put_text(&mut to, why);
            }
            Frame::Done(outcomes) => {
                to.push(8);
                put_u32(&mut to, outcomes.len() as u32);
                outcomes.iter().for_each(|outcome| put_content(&mut to, outcome.data(), outcome.unwritten()));
            }
            Frame::Broken(trouble) => {
                to.push(9);
                put_u32(&mut to, trouble.code.0 as u32);
                put_text(&mut to, &trouble.text);
                to.push(u8::from(trouble.finding.is_some()));
                trouble.finding.iter().for_each(|finding| put_finding(&mut to, finding));
            }
        }
        let length = (to.len() - 4) as u32;
        to[..4].copy_from_slice(&length.to_le_bytes());
        to
    }

    /// The next frame of a connection.
    pub(crate) fn read(from: &mut impl Read) -> io::Result<Frame> {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        let length = u32::from_le_bytes(length) as usize;
        let senseless = || io::Error::new(io::ErrorKind::InvalidData, "it says what no rank and no hub says");
        if length > FRAME_MAX {
            return Err(senseless());
        }
        let mut bytes = Vec::new();
        from.take(length as u64).read_to_end(&mut bytes)?;
        if bytes.len() < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut body = Body(&bytes);
        body.frame().filter(|_| body.0.is_empty()).ok_or_else(senseless)
    }

    pub(crate) fn send(&self, to: &mut impl Write) -> io::Result<()> {
        to.write_all(&self.write())
    }
}

/// What comes over a connection until then: whoever sends byte by byte has no more time than others.
pub(crate) struct Within<'c> {
    connection: &'c TcpStream,
    until: Instant,
}

impl<'c> Within<'c> {
    pub(crate) fn new(connection: &'c TcpStream, time: Duration) -> Within<'c> {
        // A time that is longer than the clock can count is a day.
        let until = Instant::now().checked_add(time).unwrap_or_else(|| Instant::now() + Duration::from_secs(24 * 3600));
        Within { connection, until }
    }
}

impl Read for Within<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.connection.set_read_timeout(Some(left))?;
        (&mut &*self.connection).read(bytes)
    }
}

fn put_u32(to: &mut Vec<u8>, number: u32) {
    to.extend(number.to_le_bytes());
}

fn put_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    put_u32(to, bytes.len() as u32);
    to.extend(bytes);
}

fn put_content(to: &mut Vec<u8>, bytes: &[u8], unwritten: impl Iterator<Item = Range<u64>>) {
    put_bytes(to, bytes);
    let unwritten: Vec<_> = unwritten.take(RANGES_MAX).collect();
    put_u32(to, unwritten.len() as u32);
    unwritten.iter().flat_map(|range| [range.start, range.end]).for_each(|end| to.extend(end.to_le_bytes()));
}

fn put_text(to: &mut Vec<u8>, text: &str) {
    let end = (0..=text.len().min(TEXT_MAX)).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    put_bytes(to, &text.as_bytes()[..end]);
}

fn put_said(to: &mut Vec<u8>, said: &Said) {
    let told = said.told;
    to.extend([told.kind as u8, told.element.number(), told.reduction.number() as u8]);
    to.extend(told.count.to_le_bytes());
    put_u32(to, told.other);
    to.push(u8::from(said.by.is_some()));
    said.by.iter().for_each(|op| put_op(to, op));
}

fn put_op(to: &mut Vec<u8>, op: &FindingOp) {
    [&op.op, &op.label, &op.file].into_iter().for_each(|text| put_text(to, text));
    put_u32(to, op.line);
    put_u32(to, op.column);
}

/// The words of findings that go over a connection.
const CODES: [&str; 2] = ["collective-mismatch", "missing-rank"];

fn put_finding(to: &mut Vec<u8>, finding: &Finding) {
    to.push(CODES.iter().position(|code| *code == finding.code).unwrap_or(0) as u8);
    put_text(to, &finding.what);
    put_u32(to, finding.places.len() as u32);
    finding.places.iter().flat_map(|(place, what)| [place, what]).for_each(|text| put_text(to, text));
    put_u32(to, finding.ops.len() as u32);
    finding.ops.iter().for_each(|op| put_op(to, op));
    put_u32(to, finding.notes.len() as u32);
    finding.notes.iter().for_each(|note| put_text(to, note));
    put_text(to, finding.help.as_deref().unwrap_or_default());
}

/// What is left to read of a frame. Every answer is nothing where the bytes do not say it.
struct Body<'b>(&'b [u8]);

impl<'b> Body<'b> {
    fn take(&mut self, bytes: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn bytes(&mut self) -> Option<&'b [u8]> {
        let bytes = self.u32()? as usize;
        self.take(bytes)
    }

    fn content(&mut self) -> Option<Content> {
        let bytes = self.bytes()?.to_vec();
        Content::new(bytes, self.list(|body| Some(body.u64()?..body.u64()?))?)
    }

    fn text(&mut self) -> Option<String> {
        let bytes = self.bytes().filter(|bytes| bytes.len() <= TEXT_MAX)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    /// A list; each entry has a byte at least, so a length that the frame cannot have ends early.
    fn list<T>(&mut self, mut entry: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.u32()? as usize;
        if count > LIST_MAX {
            return None;
        }
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(entry(self)?);
        }
        Some(list)
    }

    fn op(&mut self) -> Option<FindingOp> {
        let (op, label, file) = (self.text()?, self.text()?, self.text()?);
        Some(FindingOp { op, label, file, line: self.u32()?, column: self.u32()? })
    }

    fn said(&mut self) -> Option<Said> {
        let kind = *Kind::ALL.get(usize::from(self.u8()?))?;
        let element = Element::of(i32::from(self.u8()?))?;
        let reduction = Reduction::of(i32::from(self.u8()?))?;
        let told = Told { kind, element, reduction, count: self.u64()?, other: self.u32()? };
        let by = if self.u8()? == 0 { None } else { Some(Arc::new(self.op()?)) };
        Some(Said { told, by })
    }

    fn finding(&mut self) -> Option<Finding> {
        let code = *CODES.get(usize::from(self.u8()?))?;
        let mut finding = Finding::new(code, Ending::YourProgram, self.text()?);
        finding.places = self.list(|body| Some((body.text()?, body.text()?)))?;
        finding.ops = self.list(Body::op)?;
        finding.notes = self.list(Body::text)?;
        finding.help = self.text().filter(|help| !help.is_empty());
        Some(finding)
    }

    fn code(&mut self) -> Option<ncclResult> {
        let code = ncclResult(self.u32()? as i32);
        // An error that claims to be none would be one that nobody sees.
        (!code.is_success() && code != ncclResult::ncclInProgress).then_some(code)
    }

    fn frame(&mut self) -> Option<Frame> {
        Some(match self.u8()? {
            1 => Frame::Refused(self.code()?, self.text()?),
            2 => Frame::Local,
            3 => Frame::Remote,
            4 => Frame::Offer(self.list(|body| Some((body.said()?, body.content()?)))?),
            5 => Frame::Left,
            6 => Frame::Aborted,
            7 => Frame::Lost(self.text()?),
            8 => Frame::Done(self.list(|body| {
                let content = body.content()?;
                let all = 0..content.bytes().len();
                Some(Outcome { part: Some((Arc::new(content), all)), after: Vec::new() })
            })?),
            9 => {
                let (code, text) = (self.code()?, self.text()?);
                let finding = if self.u8()? == 0 { None } else { Some(self.finding()?) };
                Frame::Broken(Trouble { code, text, finding })
            }
            _ => return None,
        })
    }
}

/// Whether what came from elsewhere is what a rank can offer.
pub(crate) fn is_sound(offer: &[(Said, Content)], rank: u32, ranks: u32) -> bool {
    !offer.is_empty()
        && offer.iter().all(|(said, data)| {
            let told = said.told;
            let is_there = told.other < ranks && told.bytes(ranks).is_some();
            is_there && told.sent(rank, ranks) == data.bytes().len() as u64
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn offer() -> Frame {
        let element = Element::of(7).expect("float32");
        let told = Told { kind: Kind::AllReduce, count: 2, element, reduction: Reduction::Max, other: 0 };
        let op = FindingOp { op: "a".into(), label: "b".into(), file: "c".into(), line: 1, column: 2 };
        let content = |of: u8| Content::new(vec![of; 8], vec![1..3, 6..8]).expect("in order");
        let all = Content::written(vec![1; 8]);
        Frame::Offer(vec![(Said { told, by: Some(Arc::new(op)) }, all), (Said { told, by: None }, content(2))])
    }

    fn broken() -> Frame {
        let finding = Finding::new("missing-rank", Ending::YourProgram, "what").at("a", "b").note("c").help("d");
        Frame::Broken(Trouble { code: ncclResult::ncclTimeout, text: "t".into(), finding: Some(finding) })
    }

    #[test]
    fn frames_are_read_as_they_were_written() {
        let content = Arc::new(Content::new(vec![7; 9], vec![0..3, 4..9]).expect("in order"));
        let done = Frame::Done(vec![Outcome::default(), Outcome { part: Some((content, 2..5)), after: vec![] }]);
        let refused = Frame::Refused(ncclResult::ncclInvalidUsage, "why".into());
        for frame in
            [offer(), broken(), done, refused, Frame::Local, Frame::Remote, Frame::Left, Frame::Lost("x".into())]
        {
            let bytes = frame.write();
            let again = Frame::read(&mut bytes.as_slice()).expect("a whole frame");
            assert_eq!(again.write(), bytes, "{frame:?}");
        }
    }

    #[test]
    fn what_is_cut_off_or_changed_is_refused_or_another_frame_and_never_a_panic() {
        let mut random = Random::new(0x31e);
        for bytes in [offer().write(), broken().write()] {
            for end in 0..bytes.len() {
                assert!(Frame::read(&mut &bytes[..end]).is_err());
            }
            for _ in 0..20_000 {
                let mut bytes = bytes.clone();
                for _ in 0..1 + random.below(4) {
                    let at = random.below(bytes.len());
                    bytes[at] = random.next() as u8;
                }
                if let Ok(Frame::Offer(offer)) = Frame::read(&mut bytes.as_slice()) {
                    is_sound(&offer, 0, 2);
                }
            }
        }
    }

    #[test]
    fn a_length_of_gigabytes_takes_no_memory() {
        let mut bytes = (u32::MAX).to_le_bytes().to_vec();
        bytes.extend([4; 64]);
        assert!(Frame::read(&mut bytes.as_slice()).is_err());
        bytes[..4].copy_from_slice(&(FRAME_MAX as u32).to_le_bytes());
        assert!(Frame::read(&mut bytes.as_slice()).is_err());
    }
}
