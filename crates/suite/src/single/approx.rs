//! Every approximate instruction of sm_90, alone.

use std::f64::consts::PI;

use super::inputs::{List, f32_for, f32_quotients, f64_for, some_halves};
use super::limit::{Approx, Bound, Format};
use super::{Out, Rule, Single};

type Truth = fn(f64, f64) -> f64;
type Limit = fn(f64, f64) -> Bound;

pub(super) fn singles() -> Vec<Single> {
    let mut all = Vec::new();
    let mut f32_form = |form: &str, truth: Truth, bound: Limit, flushes: bool, inputs: &List| {
        for ftz in if flushes { &[false, true][..] } else { &[false][..] } {
            let name = format!("{form}{}.f32", if *ftz { ".ftz" } else { "" });
            let sources = if form.starts_with("div") { "%fa, %fb" } else { "%fa" };
            let body = format!("{name} %fd, {sources};");
            let rule = Rule::Approx(Approx { format: Format::F32, pair: false, ftz: *ftz, upper: false, truth, bound });
            all.push(Single::new(name, body, Out::F32, inputs).under(rule));
        }
    };
    f32_form("ex2.approx", |x, _| x.exp2(), |_, _| Bound::Ulp(2.0), true, &f32_for("ex2", -150.0, 130.0));
    f32_form("lg2.approx", |x, _| x.log2(), lg2, true, &f32_for("lg2", 0.0, 4.0));
    f32_form("sin.approx", |x, _| x.sin(), sine, true, &f32_for("sin", -7.0, 7.0));
    f32_form("cos.approx", |x, _| x.cos(), sine, true, &f32_for("cos", -320.0, 320.0));
    f32_form("tanh.approx", |x, _| x.tanh(), |_, _| Bound::Relative(-11.0), false, &f32_for("tanh", -9.0, 9.0));
    f32_form("rcp.approx", |x, _| 1.0 / x, |_, _| Bound::Ulp(1.0), true, &f32_for("rcp", -100.0, 100.0));
    f32_form("sqrt.approx", |x, _| x.sqrt(), |_, _| Bound::Relative(-23.0), true, &f32_for("sqrt", 0.0, 1e6));
    let rsqrt: Limit = |_, _| Bound::Relative(-22.9);
    f32_form("rsqrt.approx", |x, _| 1.0 / x.sqrt(), rsqrt, true, &f32_for("rsqrt", 0.0, 1e6));
    f32_form("div.approx", |x, y| x / y, quotient, true, &f32_quotients("div.approx"));
    f32_form("div.full", |x, y| x / y, |_, _| Bound::Ulp(2.0), true, &f32_quotients("div.full"));

    let mut f64_form = |form: &str, ftz: bool, truth: Truth| {
        let rule = Rule::Approx(Approx { format: Format::F64, pair: false, ftz, upper: ftz, truth, bound: seed });
        all.push(Single::new(form, format!("{form} %gd, %ga;"), Out::F64, &f64_for(form)).under(rule));
    };
    f64_form("rcp.approx.ftz.f64", true, |x, _| 1.0 / x);
    f64_form("rsqrt.approx.ftz.f64", true, |x, _| 1.0 / x.sqrt());
    f64_form("rsqrt.approx.f64", false, |x, _| 1.0 / x.sqrt());

    let inputs = some_halves();
    let mut half_form = |form: &str, format: Format, ftz: bool, truth: Truth, bound: Limit| {
        for pair in [false, true] {
            let (name, out, body) = match pair {
                false => (form.to_string(), Out::H16, format!("{form} %hd, %ha;")),
                true => (format!("{form}x2"), Out::W32, format!("{form}x2 %d, %a;")),
            };
            let rule = Rule::Approx(Approx { format, pair, ftz, upper: false, truth, bound });
            all.push(Single::new(name, body, out, &inputs).under(rule));
        }
    };
    let (exp2, tanh): (Truth, Truth) = (|x, _| x.exp2(), |x, _| x.tanh());
    half_form("ex2.approx.f16", Format::F16, false, exp2, |_, _| Bound::Relative(-9.9));
    half_form("ex2.approx.ftz.bf16", Format::Bf16, true, exp2, |_, _| Bound::Relative(-7.0));
    half_form("tanh.approx.f16", Format::F16, false, tanh, |_, _| Bound::Absolute(-10.987));
    half_form("tanh.approx.bf16", Format::Bf16, false, tanh, |_, _| Bound::Absolute(-8.0));
    all
}

fn lg2(x: f64, _: f64) -> Bound {
    if x > 0.5 && x < 2.0 { Bound::Absolute(-22.0) } else { Bound::Relative(-22.0) }
}

fn sine(x: f64, _: f64) -> Bound {
    match x.abs() {
        x if x <= 2.0 * PI => Bound::Absolute(-20.5),
        x if x <= 100.0 * PI => Bound::Absolute(-14.7),
        _ => Bound::None,
    }
}

/// Outside this range of divisors the manual promises a zero or a NaN, or nothing.
fn quotient(_: f64, divisor: f64) -> Bound {
    let inside = (2f64.powi(-126)..=2f64.powi(126)).contains(&divisor.abs());
    if inside || divisor == 0.0 || !divisor.is_finite() { Bound::Ulp(2.0) } else { Bound::None }
}

/// 20 bits of the operand's mantissa are looked at and 20 of the result's are given; as much for the table between.
fn seed(_: f64, _: f64) -> Bound {
    Bound::Relative(-18.4)
}
