//! f32 and f64 arithmetic: every rounding against the host processor's own, flushing, saturation, NaN.

#[cfg(target_arch = "x86_64")]
use crate::hardware::{self, Mode};
use crate::ops::{Out, check, doubles, floats, results};

fn f(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn g(x: u64) -> f64 {
    f64::from_bits(x)
}

/// The bits that an f32 result has: one NaN only.
fn bits(x: f32) -> u64 {
    if x.is_nan() { 0x7fff_ffff } else { x.to_bits().into() }
}

/// f64 results: NaN compares as any NaN, by mapping all to one.
fn bits64(x: f64) -> u64 {
    if x.is_nan() { u64::MAX } else { x.to_bits() }
}

#[track_caller]
fn check64(instructions: &str, reference: impl Fn(f64, f64, f64) -> f64) {
    let inputs = doubles();
    for (input, got) in inputs.iter().zip(results(instructions, Out::F64, &inputs)) {
        let [a, b, c] = input.map(g);
        let want = bits64(reference(a, b, c));
        let got = bits64(g(got));
        assert!(got == want, "{instructions} of {a:e}, {b:e}, {c:e} gives {got:#x}, where {want:#x} is right");
    }
}

fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0f32.copysign(x) } else { x }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn f32_rounds_in_every_direction_as_the_processor_does() {
    let i = floats();
    for (mode, name) in Mode::ALL {
        check(&format!("add.{name}.f32 %fd, %fa, %fb;"), Out::F32, &i, |a, b, _| {
            bits(hardware::add32(f(a), f(b), mode))
        });
        check(&format!("sub.{name}.f32 %fd, %fa, %fb;"), Out::F32, &i, |a, b, _| {
            bits(hardware::add32(f(a), -f(b), mode))
        });
        check(&format!("mul.{name}.f32 %fd, %fa, %fb;"), Out::F32, &i, |a, b, _| {
            bits(hardware::mul32(f(a), f(b), mode))
        });
        check(&format!("div.{name}.f32 %fd, %fa, %fb;"), Out::F32, &i, |a, b, _| {
            bits(hardware::div32(f(a), f(b), mode))
        });
        check(&format!("rcp.{name}.f32 %fd, %fa;"), Out::F32, &i, |a, _, _| bits(hardware::div32(1.0, f(a), mode)));
        check(&format!("sqrt.{name}.f32 %fd, %fa;"), Out::F32, &i, |a, _, _| bits(hardware::sqrt32(f(a), mode)));
        if hardware::has_fma() {
            check(&format!("fma.{name}.f32 %fd, %fa, %fb, %fc;"), Out::F32, &i, |a, b, c| {
                bits(hardware::fma32(f(a), f(b), f(c), mode))
            });
            check(&format!("fma.{name}.ftz.f32 %fd, %fa, %fb, %fc;"), Out::F32, &i, |a, b, c| {
                bits(flush(hardware::fma32(flush(f(a)), flush(f(b)), flush(f(c)), mode)))
            });
        }
        check(&format!("add.{name}.ftz.f32 %fd, %fa, %fb;"), Out::F32, &i, |a, b, _| {
            bits(flush(hardware::add32(flush(f(a)), flush(f(b)), mode)))
        });
        check(&format!("mul.{name}.ftz.f32 %fd, %fa, %fb;"), Out::F32, &i, |a, b, _| {
            bits(flush(hardware::mul32(flush(f(a)), flush(f(b)), mode)))
        });
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn f64_rounds_in_every_direction_as_the_processor_does() {
    for (mode, name) in Mode::ALL {
        check64(&format!("add.{name}.f64 %gd, %ga, %gb;"), |a, b, _| hardware::add64(a, b, mode));
        check64(&format!("sub.{name}.f64 %gd, %ga, %gb;"), |a, b, _| hardware::add64(a, -b, mode));
        check64(&format!("mul.{name}.f64 %gd, %ga, %gb;"), |a, b, _| hardware::mul64(a, b, mode));
        check64(&format!("div.{name}.f64 %gd, %ga, %gb;"), |a, b, _| hardware::div64(a, b, mode));
        check64(&format!("sqrt.{name}.f64 %gd, %ga;"), |a, _, _| hardware::sqrt64(a, mode));
        if hardware::has_fma() {
            check64(&format!("fma.{name}.f64 %gd, %ga, %gb, %gc;"), |a, b, c| hardware::fma64(a, b, c, mode));
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn f64_narrows_in_every_direction_as_the_processor_does() {
    let i = doubles();
    for (mode, name) in Mode::ALL {
        check(&format!("cvt.{name}.f32.f64 %fd, %ga;"), Out::F32, &i, |a, _, _| match g(a).is_nan() {
            // Sign and payload are kept as far as they fit.
            true => a >> 63 << 31 | 0x7fc0_0000 | a << 12 >> 41,
            false => bits(hardware::narrow(g(a), mode)),
        });
    }
}

#[test]
fn minimum_and_maximum_order_zeros_and_skip_nan() {
    let i = floats();
    let total = |x: f32| {
        let b = x.to_bits() as i32;
        b ^ (((b >> 31) as u32) >> 1) as i32
    };
    let pick = |a: f32, b: f32, least: bool| match (a.is_nan(), b.is_nan()) {
        (true, true) => f32::NAN,
        (true, false) => b,
        (false, true) => a,
        _ if (total(a) < total(b)) == least => a,
        _ => b,
    };
    check("min.f32 %fd, %fa, %fb;", Out::F32, &i, |a, b, _| bits(pick(f(a), f(b), true)));
    check("max.f32 %fd, %fa, %fb;", Out::F32, &i, |a, b, _| bits(pick(f(a), f(b), false)));
    check("max.ftz.f32 %fd, %fa, %fb;", Out::F32, &i, |a, b, _| bits(pick(flush(f(a)), flush(f(b)), false)));
    check("min.NaN.f32 %fd, %fa, %fb;", Out::F32, &i, |a, b, _| {
        bits(if f(a).is_nan() || f(b).is_nan() { f32::NAN } else { pick(f(a), f(b), true) })
    });
    check64("min.f64 %gd, %ga, %gb;", |a, b, _| match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a < b || (a == b && a.is_sign_negative()) => a,
        _ => b,
    });
}

#[test]
fn signs_touch_one_bit_but_of_a_nan() {
    let i = floats();
    check("neg.f32 %fd, %fa;", Out::F32, &i, |a, _, _| bits(-f(a)));
    check("abs.f32 %fd, %fa;", Out::F32, &i, |a, _, _| bits(f(a).abs()));
    check("abs.ftz.f32 %fd, %fa;", Out::F32, &i, |a, _, _| bits(flush(f(a)).abs()));
    check("copysign.f32 %fd, %fa, %fb;", Out::F32, &i, |a, b, _| (a & 0x8000_0000) | b & 0x7fff_ffff);
    check("neg.f64 %gd, %ga;", Out::F64, &doubles(), |a, _, _| if g(a).is_nan() { a | 1 << 51 } else { a ^ 1 << 63 });
}

#[test]
fn saturation_keeps_to_the_unit_interval() {
    let i = floats();
    let unit = |x: f32| if x > 0.0 { x.min(1.0) } else { 0.0 };
    check("add.sat.f32 %fd, %fa, %fb;", Out::F32, &i, |a, b, _| unit(f(a) + f(b)).to_bits().into());
    check("mul.ftz.sat.f32 %fd, %fa, %fb;", Out::F32, &i, |a, b, _| {
        unit(flush(flush(f(a)) * flush(f(b)))).to_bits().into()
    });
    check("fma.rn.sat.f32 %fd, %fa, %fb, %fc;", Out::F32, &i, |a, b, c| {
        unit(f(a).mul_add(f(b), f(c))).to_bits().into()
    });
    check("cvt.sat.f32.f32 %fd, %fa;", Out::F32, &i, |a, _, _| unit(f(a)).to_bits().into());
}

#[test]
fn comparisons_know_nan() {
    let i = floats();
    type Test = fn(f32, f32) -> bool;
    let tests: [(&str, Test); 14] = [
        ("eq", |a, b| a == b),
        ("ne", |a, b| !a.is_nan() && !b.is_nan() && a != b),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
        ("equ", |a, b| a.is_nan() || b.is_nan() || a == b),
        ("neu", |a, b| a.is_nan() || b.is_nan() || a != b),
        ("ltu", |a, b| a.is_nan() || b.is_nan() || a < b),
        ("leu", |a, b| a.is_nan() || b.is_nan() || a <= b),
        ("gtu", |a, b| a.is_nan() || b.is_nan() || a > b),
        ("geu", |a, b| a.is_nan() || b.is_nan() || a >= b),
        ("num", |a, b| !a.is_nan() && !b.is_nan()),
        ("nan", |a, b| a.is_nan() || b.is_nan()),
    ];
    for (name, test) in tests {
        check(&format!("setp.{name}.f32 %p, %fa, %fb;"), Out::P, &i, |a, b, _| test(f(a), f(b)).into());
        check(&format!("setp.{name}.ftz.f32 %p, %fa, %fb;"), Out::P, &i, |a, b, _| {
            test(flush(f(a)), flush(f(b))).into()
        });
    }
    check("set.le.s32.f32 %d, %fa, %fb;", Out::W32, &i, |a, b, _| if f(a) <= f(b) { 0xffff_ffff } else { 0 });
    check("set.lt.f32.f32 %fd, %fa, %fb;", Out::F32, &i, |a, b, _| if f(a) < f(b) { 0x3f80_0000 } else { 0 });
    check("slct.s32.f32 %d, %a, %b, %fc;", Out::W32, &i, |a, b, c| if f(c) >= 0.0 { a } else { b } & 0xffff_ffff);
    for (name, test) in [
        ("finite", f32::is_finite as fn(f32) -> bool),
        ("infinite", f32::is_infinite),
        ("number", |x| !x.is_nan()),
        ("notanumber", f32::is_nan),
        ("normal", |x| x.is_normal() || x == 0.0),
        ("subnormal", f32::is_subnormal),
    ] {
        check(&format!("testp.{name}.f32 %p, %fa;"), Out::P, &i, |a, _, _| test(f(a)).into());
    }
}

#[test]
fn float_to_integer_clamps() {
    let i = floats();
    type Integral = fn(f64) -> f64;
    let modes: [(&str, Integral); 4] =
        [("rni", f64::round_ties_even), ("rzi", f64::trunc), ("rmi", f64::floor), ("rpi", f64::ceil)];
    for (name, round) in modes {
        let r = |x: u64| round(f64::from(f(x)));
        check(&format!("cvt.{name}.s32.f32 %d, %fa;"), Out::W32, &i, |a, _, _| u64::from(r(a) as i32 as u32));
        check(&format!("cvt.{name}.u32.f32 %d, %fa;"), Out::W32, &i, |a, _, _| u64::from(r(a) as u32));
        check(&format!("cvt.{name}.ftz.s32.f32 %d, %fa;"), Out::W32, &i, |a, _, _| {
            u64::from(round(f64::from(flush(f(a)))) as i32 as u32)
        });
        check(&format!("cvt.{name}.s64.f32 %D, %fa;"), Out::W64, &i, |a, _, _| {
            if f(a).is_nan() { 1 << 63 } else { r(a) as i64 as u64 }
        });
        check(&format!("cvt.{name}.f32.f32 %fd, %fa;"), Out::F32, &i, |a, _, _| bits(r(a) as f32));
    }
    check("cvt.rzi.s16.f32 %hd, %fa;", Out::H16, &i, |a, _, _| u64::from(f(a) as i16 as u16));
    check("cvt.rzi.u8.f32 %d, %fa;", Out::W32, &i, |a, _, _| u64::from(f(a) as u8));
    let d = doubles();
    check("cvt.rzi.s32.f64 %d, %ga;", Out::W32, &d, |a, _, _| {
        if g(a).is_nan() { 0x8000_0000 } else { u64::from(g(a) as i32 as u32) }
    });
    check("cvt.rni.u64.f64 %D, %ga;", Out::W64, &d, |a, _, _| {
        if g(a).is_nan() { 1 << 63 } else { g(a).round_ties_even() as u64 }
    });
    check(
        "cvt.rmi.f64.f64 %gd, %ga;",
        Out::F64,
        &d.iter().copied().filter(|x| !g(x[0]).is_nan()).collect::<Vec<_>>(),
        |a, _, _| g(a).floor().to_bits(),
    );
    check(
        "cvt.f64.f32 %gd, %fa;",
        Out::F64,
        &i.iter().copied().filter(|x| !f(x[0]).is_nan()).collect::<Vec<_>>(),
        |a, _, _| f64::from(f(a)).to_bits(),
    );
}

#[test]
fn integer_to_float_rounds_once() {
    let i = crate::ops::integers();
    check("cvt.rn.f32.s32 %fd, %a;", Out::F32, &i, |a, _, _| (a as u32 as i32 as f32).to_bits().into());
    check("cvt.rn.f32.u32 %fd, %a;", Out::F32, &i, |a, _, _| (a as u32 as f32).to_bits().into());
    check("cvt.rn.f32.s64 %fd, %A;", Out::F32, &i, |a, _, _| (a as i64 as f32).to_bits().into());
    check("cvt.rn.f32.u64 %fd, %A;", Out::F32, &i, |a, _, _| (a as f32).to_bits().into());
    check("cvt.rn.f32.s16 %fd, %ha;", Out::F32, &i, |a, _, _| f32::from(a as i16).to_bits().into());
    check("cvt.rn.f64.s64 %gd, %A;", Out::F64, &i, |a, _, _| (a as i64 as f64).to_bits());
    check("cvt.rn.f64.u64 %gd, %A;", Out::F64, &i, |a, _, _| (a as f64).to_bits());
    // A directed result is the nearest one, or its neighbour on the right side.
    let directed = |n: i128, up: bool| {
        let x = n as f32;
        let exact = x as i128;
        match (up, exact < n, exact > n) {
            (true, true, _) => x.next_up(),
            (false, _, true) => x.next_down(),
            _ => x,
        }
    };
    check("cvt.rm.f32.s64 %fd, %A;", Out::F32, &i, |a, _, _| directed((a as i64).into(), false).to_bits().into());
    check("cvt.rp.f32.u64 %fd, %A;", Out::F32, &i, |a, _, _| directed(a.into(), true).to_bits().into());
    check("cvt.rz.f32.s32 %fd, %a;", Out::F32, &i, |a, _, _| {
        let n = i128::from(a as u32 as i32);
        directed(n, n < 0).to_bits().into()
    });
}

/// Bounds from the manual, with the host's functions in f64 as reference.
#[test]
fn approximations_stay_in_their_bounds() {
    let i: Vec<[u64; 3]> = floats().into_iter().filter(|x| f(x[0]).is_finite() && f(x[1]).is_finite()).collect();
    let relative = |instruction: &str, bound: f64, reference: fn(f64, f64) -> f64, usable: fn(f32, f32) -> bool| {
        for (input, got) in i.iter().zip(results(instruction, Out::F32, &i)) {
            let (a, b) = (f(input[0]), f(input[1]));
            let want = reference(a.into(), b.into());
            // Results that f32 cannot hold as normal numbers are not bounded relatively.
            if !usable(a, b) || !(1.2e-38..3.4e38).contains(&want.abs()) {
                continue;
            }
            let error = (f64::from(f(got)) - want).abs() / want.abs();
            assert!(error <= bound, "{instruction} of {a:e}, {b:e}: {:e} for {want:e}", f(got));
        }
    };
    relative("ex2.approx.f32 %fd, %fa;", 2f64.powi(-22), |a, _| a.exp2(), |_, _| true);
    relative("rcp.approx.ftz.f32 %fd, %fa;", 2f64.powi(-23), |a, _| 1.0 / a, |a, _| a.is_normal());
    relative("rsqrt.approx.f32 %fd, %fa;", 2f64.powf(-22.9), |a, _| 1.0 / a.sqrt(), |a, _| a > 0.0);
    relative("sqrt.approx.f32 %fd, %fa;", 2f64.powi(-23), |a, _| a.sqrt(), |a, _| a > 0.0);
    relative(
        "div.approx.f32 %fd, %fa, %fb;",
        2f64.powi(-22),
        |a, b| a / b,
        |_, b| b.abs() <= 2f32.powi(126) && b != 0.0,
    );
    relative("div.full.f32 %fd, %fa, %fb;", 2f64.powi(-22), |a, b| a / b, |_, b| b != 0.0);
    relative("tanh.approx.f32 %fd, %fa;", 2f64.powi(-11), |a, _| a.tanh(), |_, _| true);
    relative("lg2.approx.f32 %fd, %fa;", 2f64.powi(-22), |a, _| a.log2(), |a, _| a > 0.0 && !(0.5..2.0).contains(&a));
    for (name, reference) in [("sin", f64::sin as fn(f64) -> f64), ("cos", f64::cos)] {
        let instruction = format!("{name}.approx.f32 %fd, %fa;");
        for (input, got) in i.iter().zip(results(&instruction, Out::F32, &i)) {
            let a = f(input[0]);
            if a.abs() <= std::f32::consts::TAU {
                let error = (f64::from(f(got)) - reference(a.into())).abs();
                assert!(error <= 2f64.powf(-20.5), "{instruction} of {a:e}");
            }
        }
    }
    let special: Vec<[u64; 3]> =
        [0u32, 0x8000_0000, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000].map(|x| [u64::from(x), 0, 0]).to_vec();
    assert_eq!(
        results("ex2.approx.f32 %fd, %fa;", Out::F32, &special),
        [0x3f80_0000, 0x3f80_0000, 0x7f80_0000, 0, 0x7fff_ffff]
    );
    assert_eq!(
        results("lg2.approx.f32 %fd, %fa;", Out::F32, &special),
        [0xff80_0000, 0xff80_0000, 0x7f80_0000, 0x7fff_ffff, 0x7fff_ffff]
    );
    assert_eq!(
        results("rcp.approx.ftz.f32 %fd, %fa;", Out::F32, &special),
        [0x7f80_0000, 0xff80_0000, 0, 0x8000_0000, 0x7fff_ffff]
    );
    assert_eq!(
        results("rsqrt.approx.f32 %fd, %fa;", Out::F32, &special),
        [0x7f80_0000, 0xff80_0000, 0, 0x7fff_ffff, 0x7fff_ffff]
    );
}

/// f64 holds every f16 and every product of two, so it is an exact reference.
#[test]
fn sixteen_bit_floats_round_once() {
    let mut random = crate::harness::Random(3);
    let inputs: Vec<[u64; 3]> = (0..4000)
        .map(|_| [random.next() & 0xffff, random.next() & 0xffff, random.next() & 0xffff])
        .chain([[0x3c00, 0x3c00, 0x0001], [0x7bff, 0x3c00, 0x7bff], [0x0001, 0x3800, 0x8001]])
        .collect();
    let wide = |x: u64| {
        let x = x as u16;
        let (sign, exponent, fraction) = (x >> 15, i32::from(x >> 10 & 31), f64::from(x & 1023));
        let magnitude = match exponent {
            0 => fraction * 2f64.powi(-24),
            31 if fraction == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
        };
        if sign == 1 { -magnitude } else { magnitude }
    };
    // The nearest of all f16, ties to the even one, by search.
    let table: Vec<f64> = (0..0x7c00u64).map(wide).collect();
    let narrow = |x: f64| -> u64 {
        if x.is_nan() {
            return 0x7fff;
        }
        let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
        let a = x.abs();
        if a >= 65520.0 {
            return sign | 0x7c00;
        }
        let above = table.partition_point(|&t| t < a);
        let below = above.saturating_sub(1);
        let nearest = match table.get(above) {
            None => below,
            Some(&t) if t == a => above,
            Some(&t) => match (a - table[below]).total_cmp(&(t - a)) {
                std::cmp::Ordering::Less => below,
                std::cmp::Ordering::Greater => above,
                std::cmp::Ordering::Equal => below + below % 2,
            },
        };
        sign | nearest as u64
    };
    check("add.f16 %hd, %ha, %hb;", Out::H16, &inputs, |a, b, _| narrow(wide(a) + wide(b)));
    check("sub.f16 %hd, %ha, %hb;", Out::H16, &inputs, |a, b, _| narrow(wide(a) - wide(b)));
    check("mul.f16 %hd, %ha, %hb;", Out::H16, &inputs, |a, b, _| narrow(wide(a) * wide(b)));
    check("cvt.f32.f16 %fd, %ha;", Out::F32, &inputs, |a, _, _| bits(wide(a) as f32));
    check("cvt.f32.f16 %fd, %ha; cvt.rn.f16.f32 %hd, %fd;", Out::H16, &inputs, |a, _, _| narrow(wide(a)));
    check("fma.rn.f16x2 %d, %a, %b, %c;", Out::W32, &inputs, |a, b, c| {
        // The upper halves are zero.
        let (p, z) = (wide(a) * wide(b), wide(c));
        let sum = p + z;
        // Exact unless the exponents are far apart; then the sum is not near a tie of f16.
        narrow(sum)
    });
    check("setp.lt.f16 %p, %ha, %hb;", Out::P, &inputs, |a, b, _| (wide(a) < wide(b)).into());
    let i = floats();
    check("cvt.rn.bf16.f32 %hd, %fa;", Out::H16, &i, |a, _, _| {
        let x = f(a);
        if x.is_nan() {
            return 0x7fff;
        }
        let b = x.to_bits();
        u64::from((b + 0x7fff + (b >> 16 & 1)) >> 16)
    });
}
