//! `printf` of a kernel: formats as C does, from the buffer that `vprintf` is handed.
//!
//! The arguments lie one behind the other, each aligned to its size: integers and characters take 4 bytes, those with
//! `l`, `ll`, `z`, `j`, `t`, pointers and strings 8, floats are 8 (CUDA C++ Programming Guide, "Formatted Output").
//! `%a` and `%n` are printed as they stand.

/// Reads the arguments of one thread.
pub(super) trait Arguments {
    /// `bytes` bytes at `offset` of the buffer; 0 where it is not readable.
    fn value(&mut self, offset: u64, bytes: u32) -> u64;
    /// The string at an address.
    fn text(&mut self, address: u64) -> Vec<u8>;
}

/// The text, and how many arguments it took.
pub(super) fn format(format: &[u8], arguments: &mut impl Arguments) -> (Vec<u8>, u32) {
    let mut out = Vec::new();
    let mut values = Values { arguments, offset: 0, count: 0 };
    let mut at = 0;
    while at < format.len() {
        if format[at] != b'%' {
            out.push(format[at]);
            at += 1;
            continue;
        }
        let start = at;
        at += 1;
        let spec = Spec::read(format, &mut at, &mut values);
        let Some(&conversion) = format.get(at) else {
            out.extend_from_slice(&format[start..]);
            break;
        };
        at += 1;
        if !spec.convert(&mut out, conversion, &mut values) {
            out.extend_from_slice(&format[start..at]);
        }
    }
    (out, values.count)
}

/// The arguments that are not taken yet.
struct Values<'a, A> {
    arguments: &'a mut A,
    offset: u64,
    count: u32,
}

impl<A: Arguments> Values<'_, A> {
    fn next(&mut self, bytes: u32) -> u64 {
        self.offset = self.offset.next_multiple_of(bytes.into());
        let value = self.arguments.value(self.offset, bytes);
        self.offset += u64::from(bytes);
        self.count += 1;
        value
    }
}

/// A width or a precision: digits, or an argument where `*` stands.
fn number(format: &[u8], at: &mut usize, values: &mut Values<'_, impl Arguments>) -> Option<i64> {
    if format.get(*at) == Some(&b'*') {
        *at += 1;
        return Some(i64::from(values.next(4) as i32));
    }
    let begin = *at;
    while format.get(*at).is_some_and(u8::is_ascii_digit) {
        *at += 1;
    }
    std::str::from_utf8(&format[begin..*at]).ok()?.parse().ok()
}

/// What stands between `%` and the conversion.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternative: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// An integer of 8 bytes.
    long: bool,
}

impl Spec {
    /// Reads up to the conversion, which stands at `at` then.
    fn read(format: &[u8], at: &mut usize, values: &mut Values<'_, impl Arguments>) -> Spec {
        let mut spec = Spec::default();
        while let Some(flag) = format.get(*at).filter(|c| b"-+ #0".contains(c)) {
            match flag {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternative = true,
                _ => spec.zero = true,
            }
            *at += 1;
        }
        let width = number(format, at, values).unwrap_or(0);
        spec.left |= width < 0;
        // A width beyond this is a mistake, and would only fill memory.
        spec.width = width.unsigned_abs().min(4096) as usize;
        if format.get(*at) == Some(&b'.') {
            *at += 1;
            let precision = number(format, at, values).unwrap_or(0);
            spec.precision = usize::try_from(precision).ok().map(|p| p.min(1024));
        }
        while let Some(modifier) = format.get(*at).filter(|c| b"hlLzjtq".contains(c)) {
            spec.long |= *modifier != b'h';
            *at += 1;
        }
        spec
    }

    /// Appends one argument; false where the conversion is none that is known.
    fn convert(&self, out: &mut Vec<u8>, conversion: u8, values: &mut Values<'_, impl Arguments>) -> bool {
        let size = if self.long { 8 } else { 4 };
        match conversion {
            b'%' => out.push(b'%'),
            b'd' | b'i' => {
                let value = values.next(size);
                let value = if self.long { value as i64 } else { i64::from(value as i32) };
                self.integer(out, value < 0, &value.unsigned_abs().to_string(), "");
            }
            b'u' => self.unsigned(out, &values.next(size).to_string(), ""),
            b'o' => self.unsigned(out, &format!("{:o}", values.next(size)), "0"),
            b'x' => self.unsigned(out, &format!("{:x}", values.next(size)), "0x"),
            b'X' => self.unsigned(out, &format!("{:X}", values.next(size)), "0X"),
            b'p' => self.pad(out, format!("0x{:x}", values.next(8)).as_bytes()),
            b'c' => self.pad(out, &[values.next(4) as u8]),
            b's' => {
                let address = values.next(8);
                let mut text = values.arguments.text(address);
                text.truncate(self.precision.unwrap_or(usize::MAX));
                self.pad(out, &text);
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' => self.float(out, f64::from_bits(values.next(8)), conversion),
            _ => return false,
        }
        true
    }

    fn pad(&self, out: &mut Vec<u8>, text: &[u8]) {
        let fill = self.width.saturating_sub(text.len());
        if !self.left {
            out.extend(std::iter::repeat_n(b' ', fill));
        }
        out.extend_from_slice(text);
        if self.left {
            out.extend(std::iter::repeat_n(b' ', fill));
        }
    }

    /// A number with its sign and prefix; zeros go between them and the digits.
    fn number(&self, out: &mut Vec<u8>, sign: &str, prefix: &str, digits: &str, zeros: bool) {
        let len = sign.len() + prefix.len() + digits.len();
        let fill = if zeros && !self.left { self.width.saturating_sub(len) } else { 0 };
        let text = format!("{sign}{prefix}{}{digits}", "0".repeat(fill));
        self.pad(out, text.as_bytes());
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    fn integer(&self, out: &mut Vec<u8>, negative: bool, digits: &str, prefix: &str) {
        let least = self.precision.unwrap_or(1);
        let digits = match (digits, least) {
            ("0", 0) => String::new(),
            _ => format!("{}{digits}", "0".repeat(least.saturating_sub(digits.len()))),
        };
        self.number(out, self.sign(negative), prefix, &digits, self.zero && self.precision.is_none());
    }

    fn unsigned(&self, out: &mut Vec<u8>, digits: &str, prefix: &str) {
        let plain = Spec { plus: false, space: false, ..*self };
        plain.integer(out, false, digits, if self.alternative && digits != "0" { prefix } else { "" });
    }

    fn float(&self, out: &mut Vec<u8>, value: f64, conversion: u8) {
        let sign = self.sign(value.is_sign_negative() && !value.is_nan());
        let a = value.abs();
        let (digits, zeros) = if a.is_nan() {
            ("nan".to_string(), false)
        } else if a.is_infinite() {
            ("inf".to_string(), false)
        } else {
            let precision = self.precision.unwrap_or(6);
            let digits = match conversion.to_ascii_lowercase() {
                b'f' => format!("{a:.precision$}"),
                b'e' => exponential(a, precision),
                _ => self.shortest(a, precision.max(1)),
            };
            (digits, self.zero)
        };
        let digits = if conversion.is_ascii_uppercase() { digits.to_uppercase() } else { digits };
        self.number(out, sign, "", &digits, zeros);
    }

    /// `%g`: the fixed or the exponential form, whichever suits, without trailing zeros.
    fn shortest(&self, a: f64, precision: usize) -> String {
        let exponential_form = exponential(a, precision - 1);
        let exponent: i32 = exponential_form.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
        let strip = |text: &str| {
            if self.alternative || !text.contains('.') {
                text.to_string()
            } else {
                text.trim_end_matches('0').trim_end_matches('.').to_string()
            }
        };
        if (-4..precision as i32).contains(&exponent) {
            let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
            strip(&format!("{a:.decimals$}"))
        } else {
            let (mantissa, exponent) = exponential_form.split_once('e').unwrap_or((&exponential_form, "+00"));
            format!("{}e{exponent}", strip(mantissa))
        }
    }
}

/// As C writes it: at least two digits of exponent, and its sign.
fn exponential(a: f64, precision: usize) -> String {
    let text = format!("{a:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Buffer(Vec<u8>);

    impl Arguments for Buffer {
        fn value(&mut self, offset: u64, bytes: u32) -> u64 {
            let mut raw = [0; 8];
            let start = offset as usize;
            raw[..bytes as usize].copy_from_slice(&self.0[start..start + bytes as usize]);
            u64::from_le_bytes(raw)
        }

        fn text(&mut self, address: u64) -> Vec<u8> {
            format!("<{address}>").into_bytes()
        }
    }

    fn text(template: &str, bytes: &[u8]) -> String {
        let mut all = bytes.to_vec();
        all.resize(bytes.len() + 16, 0);
        String::from_utf8(format(template.as_bytes(), &mut Buffer(all)).0).expect("ASCII")
    }

    fn float(template: &str, x: f64) -> String {
        text(template, &x.to_le_bytes())
    }

    #[test]
    fn integers() {
        let minus = (-42i32).to_le_bytes();
        assert_eq!(text("a%db", &minus), "a-42b");
        assert_eq!(text("[%6d] 100%%", &minus), "[   -42] 100%");
        assert_eq!(text("[%-6d]", &minus), "[-42   ]");
        assert_eq!(text("[%06d]", &minus), "[-00042]");
        assert_eq!(text("%+d", &7i32.to_le_bytes()), "+7");
        assert_eq!(text("%.4u", &7i32.to_le_bytes()), "0007");
        assert_eq!(text("%x %#x", &[255, 0, 0, 0, 255, 0, 0, 0]), "ff 0xff");
        assert_eq!(text("%lld", &(-5_000_000_000i64).to_le_bytes()), "-5000000000");
        assert_eq!(text("%*d", &[5, 0, 0, 0, 7, 0, 0, 0]), "    7");
        // The second one is aligned to 8.
        let mut mixed = 1u32.to_le_bytes().to_vec();
        mixed.extend([0; 4]);
        mixed.extend(9u64.to_le_bytes());
        assert_eq!(text("%u %lu", &mixed), "1 9");
        assert_eq!(
            text("%c%s|", &{
                let mut b = 65u32.to_le_bytes().to_vec();
                b.extend([0; 4]);
                b.extend(3u64.to_le_bytes());
                b
            }),
            "A<3>|"
        );
    }

    #[test]
    fn floats() {
        assert_eq!(float("%f", 1.5), "1.500000");
        assert_eq!(float("%.2f", -2.675), "-2.67");
        assert_eq!(float("%8.3f", 2.5009), "   2.501");
        assert_eq!(float("%e", 12345.678), "1.234568e+04");
        assert_eq!(float("%.1E", 0.00012), "1.2E-04");
        assert_eq!(float("%g", 0.0001), "0.0001");
        assert_eq!(float("%g", 0.00001), "1e-05");
        assert_eq!(float("%g", 1_000_000.0), "1e+06");
        assert_eq!(float("%g", 123_456.0), "123456");
        assert_eq!(float("%g", 0.5), "0.5");
        assert_eq!(float("%f", f64::INFINITY), "inf");
        assert_eq!(float("%5.1f|", -0.0), " -0.0|");
        assert_eq!(float("%f", f64::NAN), "nan");
    }
}
