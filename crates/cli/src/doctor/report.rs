//! What the doctor saw, as a text and as data.

use std::fmt;
use std::time::Duration;

use dacapo_driver::{Call, Nvidia};
use dacapo_sim::IMPLEMENTED;
use serde_json::{Value, json};

use crate::output::{Ink, Told, inked};

/// Everything.
pub struct Report {
    pub nvidia: Look,
    pub software: Look,
    pub seed: u64,
}

/// A driver.
#[derive(Default)]
pub struct Look {
    /// Whether it works, or need not be there.
    pub works: bool,
    /// Why there is none.
    pub absent: Option<String>,
    /// The library's file.
    pub path: Option<String>,
    pub is_software: bool,
    pub device: Option<DeviceLook>,
    /// What the software driver found meanwhile.
    pub findings: Vec<String>,
    /// What is worth knowing about its device.
    pub notes: Vec<String>,
}

/// Its device 0.
#[derive(Default)]
pub struct DeviceLook {
    /// Why the driver does not open it.
    pub refused: Option<String>,
    /// Why the library cannot use it.
    pub unusable: Option<String>,
    pub name: String,
    pub driver_api: String,
    pub driver_release: Option<String>,
    pub description: Option<Description>,
    pub self_tests: Vec<SelfTest>,
}

/// What it is and can do.
pub struct Description {
    pub compute: (u32, u32),
    pub multiprocessors: u64,
    pub memory_bytes: u64,
    pub abilities: Vec<Ability>,
}

/// Something that a program may want.
pub struct Ability {
    pub name: &'static str,
    /// The first call that it needs and that is not there.
    pub needs: Option<Call>,
}

/// A test that was made.
pub struct SelfTest {
    pub passed: bool,
    /// What was right, or what was wrong.
    pub what: String,
    pub time: Duration,
}

impl Report {
    /// Whether nothing is wrong.
    pub fn works(&self) -> bool {
        self.nvidia.works && self.software.works
    }
}

impl DeviceLook {
    /// Whether driver and library can use it, and every test passed.
    pub fn works(&self) -> bool {
        self.refused.is_none() && self.unusable.is_none() && self.self_tests.iter().all(|test| test.passed)
    }
}

/// The text with every further line moved in like the first.
fn indented(text: &str) -> String {
    text.replace('\n', "\n  ")
}

fn since(call: Call) -> String {
    format!("{}.{}", call.since() / 1000, call.since() % 1000 / 10)
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "dacapo {}\n\nNVIDIA's driver", env!("CARGO_PKG_VERSION"))?;
        if let Some(why) = &self.nvidia.absent {
            writeln!(f, "  {}", indented(why))?;
            match self.nvidia.works {
                true => {
                    writeln!(f, "  Nothing is wrong if this machine has no GPU: the software driver below needs none.")?
                }
                false => writeln!(f, "  {} names this library; correct it or unset it.", Nvidia::VARIABLE)?,
            }
        }
        if let Some(path) = &self.nvidia.path {
            writeln!(f, "  found: {path}")?;
        }
        if self.nvidia.is_software {
            writeln!(f, "  this is Dacapo's software driver behind the C ABI, not NVIDIA's")?;
        }
        self.nvidia.device.iter().try_for_each(|device| device.write(f))?;
        writeln!(f, "\nsoftware driver (built in, needs no GPU)")?;
        writeln!(f, "  driver calls: {} of the {} in the table", IMPLEMENTED.len(), Call::ALL.len())?;
        self.software.device.iter().try_for_each(|device| device.write(f))?;
        self.software.notes.iter().try_for_each(|note| writeln!(f, "  {} {note}", inked(f, Ink::Warn, "note:")))?;
        self.software.findings.iter().try_for_each(|finding| writeln!(f, "  {}", indented(finding)))?;
        write!(f, "  reproduce: dacapo doctor --seed {}", self.seed)
    }
}

impl DeviceLook {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(refused) = &self.refused {
            return writeln!(f, "  device 0 cannot be opened: {}", indented(refused));
        }
        let release = self.driver_release.iter().map(|release| format!(", release {release}")).collect::<String>();
        writeln!(f, "  device 0: {}, driver API {}{release}", self.name, self.driver_api)?;
        if let Some(why) = &self.unusable {
            writeln!(f, "  the library cannot use it: {}", indented(why))?;
        }
        self.description.iter().try_for_each(|description| description.write(f))?;
        for SelfTest { passed, what, time } in &self.self_tests {
            match passed {
                true => writeln!(f, "  self-test: {what} ({time:.0?})")?,
                false => writeln!(f, "  {} {}", inked(f, Ink::Bad, "self-test FAILED:"), indented(what))?,
            }
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let test =
            |test: &SelfTest| json!({ "passed": test.passed, "what": test.what, "us": test.time.as_secs_f64() * 1e6 });
        json!({
            "name": self.name,
            "driver_api": self.driver_api,
            "driver_release": self.driver_release,
            "refused": self.refused,
            "unusable": self.unusable,
            "description": self.description.as_ref().map(Description::json),
            "self_tests": self.self_tests.iter().map(test).collect::<Vec<_>>(),
        })
    }
}

impl Description {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((major, minor), gibibytes) = (self.compute, self.memory_bytes as f64 / (1u64 << 30) as f64);
        writeln!(
            f,
            "  compute capability {major}.{minor}, {} multiprocessors, {gibibytes:.1} GiB",
            self.multiprocessors
        )?;
        for Ability { name, needs } in &self.abilities {
            match needs {
                None => writeln!(f, "  {name:<36}{}", inked(f, Ink::Good, "yes"))?,
                Some(call) => {
                    let no = inked(f, Ink::Bad, "no");
                    writeln!(f, "  {name:<36}{no}   (needs {}, CUDA {})", call.name(), since(*call))?;
                }
            }
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let ability = |ability: &Ability| {
            let needs = ability.needs.map(|call| json!({ "call": call.name(), "cuda": since(call) }));
            json!({ "name": ability.name, "there": ability.needs.is_none(), "needs": needs })
        };
        json!({
            "compute": [self.compute.0, self.compute.1],
            "multiprocessors": self.multiprocessors,
            "memory_bytes": self.memory_bytes,
            "abilities": self.abilities.iter().map(ability).collect::<Vec<_>>(),
        })
    }
}

impl Told for Report {
    fn json(&self) -> Value {
        let look = |look: &Look| {
            json!({
                "works": look.works,
                "absent": look.absent,
                "path": look.path,
                "simulator": look.is_software,
                "device": look.device.as_ref().map(DeviceLook::json),
                "findings": look.findings,
                "notes": look.notes,
            })
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "works": self.works(),
            "calls": { "implemented": IMPLEMENTED.len(), "known": Call::ALL.len() },
            "nvidia": look(&self.nvidia),
            "software": look(&self.software),
            "seed": self.seed,
        })
    }
}
