//! Control flow as Rust.

use super::numbers::Type;
use super::print_body::{block, element_of, op as line};
use super::program::{Asks, Compare, NamedMemory, Op, Side, Term};

/// A line of control flow, or one that sets a number.
pub(super) fn flow(op: &Op) -> String {
    match op {
        Op::Loop(name, asks, ops) => {
            let (call, last) = match asks {
                Asks::Behind(of, most) => (format!("repeat({}, ", bound(*most)), format!("Ok({})", term(of))),
                Asks::Before(of, most) => (format!("repeat_while({}, {}, ", term(of), bound(*most)), "Ok(())".into()),
                Asks::Times(times) => (format!("repeat_times({}, ", held(*times)), "Ok(())".into()),
            };
            format!("let rounds{name} = r.{call}{})?;", closure(ops, last))
        }
        Op::When(of, then, otherwise) => {
            let when = format!("r.when({}, {})?", term(of), closure(then, "Ok(())".into()));
            match otherwise {
                Some(ops) => format!("{when}.otherwise({})?;", closure(ops, "Ok(())".into())),
                None => format!("{when};"),
            }
        }
        Op::Switch(index, cases) => {
            let count = cases.len();
            let body = |(number, ops): (usize, &Vec<Op>)| {
                let pattern = if number + 1 < count { number.to_string() } else { "_".into() };
                format!("{pattern} => {}", lines(ops, "Ok(())".into()))
            };
            let cases: Vec<String> = cases.iter().enumerate().map(body).collect();
            let cases = if count == 0 { "Ok(())".into() } else { format!("match case {}", block(&cases)) };
            format!("r.switch({}, {count}, |r: &mut Recorder<'_>, case| {cases})?;", held(*index))
        }
        Op::Leave(of) => format!("r.leave_if({})?;", term(of)),
        Op::Round(name) => format!("let round{name} = r.round()?;"),
        Op::SetNumber(name, of, value) => {
            format!("r.run(fill(v{name}.as_mut_slice(), {}))?;", side(*value, *of))
        }
        _ => unreachable!("not control flow: {op:?}"),
    }
}

fn lines(ops: &[Op], last: String) -> String {
    let mut lines: Vec<String> = ops.iter().map(line).collect();
    lines.push(last);
    block(&lines)
}

fn closure(ops: &[Op], last: String) -> String {
    format!("|r: &mut Recorder<'_>| {}", lines(ops, last))
}

fn bound(bound: Option<Side>) -> String {
    bound.map_or("unbounded()".into(), |most| format!("up_to({})", side(most, Type::U32)))
}

/// A count or an index, which the bodies leave alone.
fn held(of: Side) -> String {
    match of {
        Side::At(NamedMemory::Buffer(name), at) => format!("b{name}.share().at({at})"),
        Side::At(NamedMemory::Scalar(name), _) => format!("&x{name}"),
        _ => side(of, Type::U32),
    }
}

fn side(side: Side, of: Type) -> String {
    match side {
        Side::At(place, at) => element_of(place, at),
        Side::Number(name) => format!("&v{name}"),
        Side::Slot(name) if of == Type::U32 => format!("&s{name}"),
        Side::Slot(name) => format!("&d{name}"),
        Side::Baked(bits) => format!("baked({})", of.value(bits)),
    }
}

fn term(of: &Term) -> String {
    match of {
        Term::Compare(Compare::Differs, of, left, Side::Baked(0)) => format!("nonzero({})", side(*left, *of)),
        Term::Compare(Compare::Equal, of, left, Side::Baked(0)) => format!("zero({})", side(*left, *of)),
        Term::Compare(how, of, left, right) => {
            let call = match how {
                Compare::Equal => "equal",
                Compare::Differs => "differs",
                Compare::Above => "above",
                Compare::AtLeast => "at_least",
                Compare::Below => "below",
                Compare::AtMost => "at_most",
            };
            format!("{call}({}, {})", side(*left, *of), side(*right, *of))
        }
        Term::And(left, right) => format!("({} & {})", term(left), term(right)),
        Term::Or(left, right) => format!("({} | {})", term(left), term(right)),
        Term::Not(inner) => format!("!{}", term(inner)),
    }
}
