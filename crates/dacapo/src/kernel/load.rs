//! Loading a module and holding its entry points.

use std::borrow::Cow;
use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dacapo_driver::types::*;
use dacapo_driver::{CUresult, Call, DriverError};
use dacapo_ledger::Drops;
use dacapo_ptx::{Left, Opening};

use crate::device::{Cuda, Device, Garbage};
use crate::error::{Error, ErrorKind, Result, nearest_first};
use crate::kernel::check::{Checked, check};
use crate::kernel::declare::{Declared, KernelDecl, ParamKind};
use crate::kernel::opt_in::SharedOptIn;
use crate::kernel::text::Text;
use crate::memory::{Allocation, Kind};

/// A module with the entry points that the declaration `D` named, each checked against it.
///
/// Bound to its declaration by its type: in the hands of another declaration's methods an entry point would be launched
/// with arguments that it does not have.
#[doc(hidden)]
pub struct LoadedModule<D> {
    /// One for each declared kernel, in order. Two may name one entry point and differ in the rest.
    pub(crate) functions: Vec<Arc<Function>>,
    /// Behind the functions: the end of a device empties the queue that a module goes to.
    pub(crate) device: Device,
    checked: Checked,
    declared: PhantomData<fn() -> D>,
}

/// The globals of a module that were asked for so far, by name: one identity for each, whoever touches it, because order
/// comes from identities.
type Globals = Vec<(&'static str, Arc<Allocation>)>;

/// A module of the driver's.
pub(crate) struct ModuleSource {
    /// Not the device, because a device holds modules of its own.
    drops: Arc<Drops<Cuda, Garbage>>,
    pub(crate) raw: CUmodule,
    /// What the driver was told of each function that was found in it.
    told: Mutex<Vec<(CUfunction, Arc<SharedOptIn>)>>,
    /// What its entry points begin with, where that is known.
    beginnings: Beginnings,
}

/// Which entry points of a module wait for the kernels before them, and what it takes to make them signal, or look at a flag
/// first.
#[derive(Default)]
struct Beginnings {
    /// Those that begin with our wait, sorted.
    wait: Vec<String>,
    /// Those that were left as they are, and why, sorted.
    left: Vec<(String, Left)>,
    /// A sum over the text (FNV-1a), by which it is known in another process.
    sum: u64,
    /// The text as it was given; empty for a second copy of a module.
    source: Box<str>,
    /// The same module with entry points that wait and signal, once somebody wanted one. None: it has none.
    signalling: OnceLock<Option<Arc<ModuleSource>>>,
    /// The same module with entry points that look at a flag first, once somebody wanted one. None: it has none.
    guarded: OnceLock<Option<Arc<ModuleSource>>>,
    /// The entry points that would signal in another copy, sorted, once somebody asked.
    may_signal: OnceLock<Vec<String>>,
}

// SAFETY: a module's handle is a token that the driver takes from any thread.
unsafe impl Send for ModuleSource {}
// SAFETY: as above.
unsafe impl Sync for ModuleSource {}

/// An entry point, with its module held.
pub(crate) struct Function {
    pub(crate) raw: CUfunction,
    pub(crate) name: Cow<'static, str>,
    pub(crate) threads_max: u32,
    pub(crate) shared_static: u32,
    /// Offset and size of each parameter.
    pub(crate) params: Vec<(usize, usize)>,
    /// The module's globals that it touches.
    pub(crate) state: Vec<(&'static str, Arc<Allocation>)>,
    /// What its declaration is warned about.
    pub(crate) warnings: Vec<String>,
    /// How much dynamic shared memory the driver was told of, by whoever launches this entry point.
    shared_told: Arc<SharedOptIn>,
    /// The same entry point in a module where it signals, once somebody wanted that. None: there is none.
    signalling: OnceLock<Option<Arc<Function>>>,
    /// Likewise where it looks at a flag first.
    guarded: OnceLock<Option<Arc<Function>>>,
    begins: Begins,
    /// Held: without it the function is gone.
    module: Arc<ModuleSource>,
}

/// What an entry point begins with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    /// Our wait.
    Waiting,
    /// What its text says, which has control of its own: it waits somewhere.
    Controlling,
    /// The same, but it never waits.
    Signalling,
    /// What its text says, and nothing speaks against kernels behind it that begin early.
    AsWritten,
    /// Not known, or a cluster.
    Unknown,
}

// SAFETY: a function's handle is a token that the driver takes from any thread, as long as its module is loaded.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl<D: Declared> LoadedModule<D> {
    /// Loads PTX and finds every declared kernel in it.
    ///
    /// # Errors
    ///
    /// - [`ErrorKind::BadModule`], [`ErrorKind::NoSuchKernel`], [`ErrorKind::Signature`], [`ErrorKind::Declaration`].
    ///
    /// # Safety
    ///
    /// - Each declaration is true of its entry point, as [`kernels!`](crate::kernels) says under "Safety".
    #[track_caller]
    pub unsafe fn load(device: &Device, source: &str) -> Result<LoadedModule<D>> {
        // In what `kernels!` makes of a declaration, this is the line of the declaration.
        let at = Location::caller();
        // SAFETY: the caller's promise.
        unsafe { LoadedModule::find_all(device, source) }.map_err(|error| error.on_line(at))
    }

    /// # Safety
    ///
    /// - As [`load`](LoadedModule::load).
    unsafe fn find_all(device: &Device, source: &str) -> Result<LoadedModule<D>> {
        let (module, text) = ModuleSource::load(device, source)?;
        let (mut globals, mut functions) = (Globals::new(), Vec::with_capacity(D::KERNELS.len()));
        let (checked, lies) = check(text.module(), D::KERNELS);
        for (decl, found) in D::KERNELS.iter().zip(&checked.kernels) {
            let mut function = Function::declared(device, &module, &text, decl, &mut globals)?;
            function.warnings = found.warnings.iter().map(|warning| warning.text.clone()).collect();
            functions.push(Arc::new(function));
        }
        if !lies.is_empty() {
            return Err(Error::new(ErrorKind::Declaration(lies)));
        }
        Ok(LoadedModule { device: device.clone(), functions, checked, declared: PhantomData })
    }

    /// What was decided about the declaration.
    pub fn checked(&self) -> &Checked {
        &self.checked
    }
}

impl ModuleSource {
    /// Loads PTX; with what its text says, for all that is looked for in it.
    ///
    /// Where the device has programmatic edges, entry points are loaded with a wait at their beginning; launched in any other
    /// way, they do not notice it. A text that does not load so is loaded as it is.
    pub(crate) fn load(device: &Device, source: &str) -> Result<(Arc<ModuleSource>, Text)> {
        device.enter()?;
        device.drain()?;
        let waiting = match device.has_programmatic_edges() {
            true => dacapo_ptx::variant(source, Opening::Waits),
            false => None,
        };
        let Some(mut made) = waiting else {
            let mut module = ModuleSource::load_text(device, source)?;
            module.beginnings.source = source.into();
            return Ok((Arc::new(module), Text::read(source)));
        };
        let mut module = match ModuleSource::load_text(device, &made.text) {
            Err(error) if matches!(error.kind(), ErrorKind::BadModule { .. }) && !made.changed.is_empty() => {
                made.changed.clear();
                made.left.clear();
                ModuleSource::load_text(device, source)?
            }
            outcome => outcome?,
        };
        made.changed.sort_unstable();
        made.left.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let sum = source
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325u64, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let (wait, left) = (made.changed, made.left);
        module.beginnings = Beginnings { wait, left, sum, source: source.into(), ..Beginnings::default() };
        Ok((Arc::new(module), Text::read(source)))
    }

    fn load_text(device: &Device, source: &str) -> Result<ModuleSource> {
        let bad = |log: String| Error::new(ErrorKind::BadModule { log });
        let image =
            CString::new(source).map_err(|zero| bad("the PTX has a zero byte in it".into()).with_source(zero))?;
        let mut log = vec![0u8; 4096];
        let mut options = [CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        let mut values: [*mut c_void; 2] =
            [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut::<c_void>(log.len() - 1)];
        let mut raw = CUmodule::NULL;
        // SAFETY: the image ends in a zero; there are two options with two values, of which the first is the log's
        // memory and the second its length without the last byte, which stays zero; `raw` is valid for the write.
        let code = unsafe {
            device.driver().cuModuleLoadDataEx(
                &mut raw,
                image.as_ptr().cast(),
                2,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        match code {
            CUresult::CUDA_ERROR_INVALID_PTX
            | CUresult::CUDA_ERROR_INVALID_IMAGE
            | CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
            | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
            | CUresult::CUDA_ERROR_NOT_SUPPORTED => {
                let end = log.iter().position(|&byte| byte == 0).unwrap_or(0);
                let text = String::from_utf8_lossy(&log[..end]).trim().to_string();
                Err(bad(text).with_source(DriverError { code, call: Call::cuModuleLoadDataEx }))
            }
            code => {
                device.check(code, Call::cuModuleLoadDataEx)?;
                device.live().modules.add(1);
                let (drops, told, beginnings) = (device.0.drops.clone(), Mutex::default(), Beginnings::default());
                Ok(ModuleSource { drops, raw, told, beginnings })
            }
        }
    }

    /// What an entry point begins with.
    fn begins(&self, entry: &str) -> Begins {
        let Beginnings { wait, left, .. } = &self.beginnings;
        if wait.binary_search_by(|name| name.as_str().cmp(entry)).is_ok() {
            return Begins::Waiting;
        }
        match left.binary_search_by(|(name, _)| name.as_str().cmp(entry)) {
            Ok(at) if left[at].1 == Left::Controls => Begins::Controlling,
            Ok(at) if left[at].1 == Left::Signals => Begins::Signalling,
            Ok(at) if left[at].1 != Left::Cluster => Begins::AsWritten,
            _ => Begins::Unknown,
        }
    }

    /// Whether an entry point would wait and signal in another copy of the module.
    fn may_signal(&self, entry: &str) -> bool {
        let Beginnings { source, may_signal, .. } = &self.beginnings;
        let names = may_signal.get_or_init(|| {
            let mut names =
                dacapo_ptx::variant(source, Opening::WaitsAndSignals).map_or_else(Vec::new, |made| made.changed);
            names.sort_unstable();
            names
        });
        names.binary_search_by(|name| name.as_str().cmp(entry)).is_ok()
    }

    /// The same module with entry points that wait and signal, if there are any.
    fn signalling(&self, device: &Device) -> Result<Option<&Arc<ModuleSource>>> {
        match self.beginnings.wait.is_empty() {
            true => Ok(None),
            false => self.copy(device, &self.beginnings.signalling, Opening::WaitsAndSignals),
        }
    }

    /// The same module with entry points that look at a flag first, if there are any. Those that wait here wait there.
    fn guarded(&self, device: &Device) -> Result<Option<&Arc<ModuleSource>>> {
        let waits = !self.beginnings.wait.is_empty();
        let opening = if waits { Opening::WaitsGuarded } else { Opening::Guarded };
        self.copy(device, &self.beginnings.guarded, opening)
    }

    /// Another copy of the module, which is loaded when somebody wants it. None if it has no entry points, or does not load.
    /// Of the entry points that the copy is for it says that they wait, whatever else they do.
    fn copy<'m>(
        &self,
        device: &Device,
        place: &'m OnceLock<Option<Arc<ModuleSource>>>,
        opening: Opening,
    ) -> Result<Option<&'m Arc<ModuleSource>>> {
        if let Some(known) = place.get() {
            return Ok(known.as_ref());
        }
        device.enter()?;
        let variant = dacapo_ptx::variant(&self.beginnings.source, opening).filter(|made| !made.changed.is_empty());
        let made = match variant {
            None => None,
            Some(made) => match ModuleSource::load_text(device, &made.text) {
                Err(error) if matches!(error.kind(), ErrorKind::BadModule { .. }) => None,
                outcome => {
                    let mut module = outcome?;
                    module.beginnings.wait = made.changed;
                    module.beginnings.wait.sort_unstable();
                    Some(Arc::new(module))
                }
            },
        };
        // Somebody may have been faster; then this one goes.
        Ok(place.get_or_init(|| made).as_ref())
    }
}

impl Drop for ModuleSource {
    fn drop(&mut self) {
        // Its kernels may be running on any stream: who empties the queue asks which. Not here: a drop takes no lock
        // that is held while work is enqueued.
        self.drops.put(Garbage::Module(self.raw), Vec::new());
    }
}

impl Function {
    /// Finds an entry point by its name.
    pub(crate) fn find(
        device: &Device,
        module: &Arc<ModuleSource>,
        text: &Text,
        entry: Cow<'static, str>,
    ) -> Result<Function> {
        device.enter()?;
        let no_such = || {
            let there = nearest_first(&entry, text.entries());
            Error::new(ErrorKind::NoSuchKernel { what: "entry point", name: entry.to_string(), there })
        };
        let name = CString::new(&*entry).map_err(|zero| no_such().with_source(zero))?;
        let mut raw = CUfunction::NULL;
        // SAFETY: `raw` is valid for the write, the module is held, the name ends in a zero.
        match unsafe { device.driver().cuModuleGetFunction(&mut raw, module.raw, name.as_ptr()) } {
            CUresult::CUDA_ERROR_NOT_FOUND => return Err(no_such()),
            code => device.check(code, Call::cuModuleGetFunction)?,
        }
        // Loaded now: a first launch that loads would allocate, and inside another library's capture that breaks it.
        // SAFETY: the function is of a module that is held.
        device.check(unsafe { device.driver().cuFuncLoad(raw) }, Call::cuFuncLoad)?;
        let attribute = |attribute: CUfunction_attribute| -> Result<u32> {
            let mut value = 0;
            // SAFETY: `value` is valid for the write.
            let code = unsafe { device.driver().cuFuncGetAttribute(&mut value, attribute, raw) };
            device.check(code, Call::cuFuncGetAttribute)?;
            Ok(u32::try_from(value).unwrap_or(0))
        };
        let threads_max = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?;
        let shared_static = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?;
        let mut params = Vec::new();
        // How many there are stands in the PTX; where it cannot be read there, the driver is asked past the last one.
        let count = text.entry(&entry).map(|known| known.params.len());
        while count != Some(params.len()) {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: both are valid for the write.
            match unsafe { device.driver().cuFuncGetParamInfo(raw, params.len(), &mut offset, &mut size) } {
                // Past the last parameter.
                CUresult::CUDA_ERROR_INVALID_VALUE => break,
                code => device.check(code, Call::cuFuncGetParamInfo)?,
            }
            params.push((offset, size));
        }
        let (state, warnings, shared_told, begins) = (Vec::new(), Vec::new(), module.told(raw), module.begins(&entry));
        let (module, signalling, guarded) = (module.clone(), OnceLock::new(), OnceLock::new());
        Ok(Function {
            raw,
            name: entry,
            threads_max,
            shared_static,
            params,
            state,
            warnings,
            shared_told,
            signalling,
            guarded,
            begins,
            module,
        })
    }

    /// Finds a declared entry point and checks that it is as declared.
    fn declared(
        device: &Device,
        module: &Arc<ModuleSource>,
        text: &Text,
        decl: &'static KernelDecl,
        globals: &mut Globals,
    ) -> Result<Function> {
        let mut function = Function::find(device, module, text, Cow::Borrowed(decl.entry))?;
        let differs =
            |difference: String| Err(Error::new(ErrorKind::Signature { kernel: decl.entry.to_string(), difference }));
        if function.params.len() != decl.params.len() {
            let (has, said) = (function.params.len(), decl.params.len());
            return differs(format!("it has {has} parameters, {said} are declared"));
        }
        for (number, (param, &(_, size))) in decl.params.iter().zip(&function.params).enumerate() {
            if param.bytes != size {
                let what = match param.kind {
                    ParamKind::Value | ParamKind::Derived => "a value",
                    ParamKind::Pointer => "a pointer",
                };
                let (name, bytes) = (param.name, param.bytes);
                return differs(format!(
                    "parameter {number}, `{name}`, has {size} bytes there and is declared as {what} of {bytes}"
                ));
            }
        }
        if let Some(name) = decl.early.and_then(|early| early.iter().find(|name| !decl.reads(name))) {
            return differs(format!("`early` names `{name}`, which is no `&` parameter"));
        }
        if decl.early.is_some() && matches!(function.begins, Begins::Waiting | Begins::Signalling) {
            return differs("it is declared `early`, and its text has no `griddepcontrol.wait`".into());
        }
        for &name in decl.state {
            let known = globals.iter().find(|(known, _)| *known == name).map(|(_, global)| global.clone());
            let global = match known {
                Some(global) => global,
                None => {
                    let global = module.global(device, text, name)?;
                    globals.push((name, global.clone()));
                    global
                }
            };
            function.state.push((name, global));
        }
        Ok(function)
    }

    /// Whether it waits for all that comes before it in a graph before it does anything: it may begin early.
    pub(crate) fn waits(&self) -> bool {
        self.begins == Begins::Waiting
    }

    /// Whether it has `griddepcontrol` of its own, and nothing speaks against that it begins early.
    pub(crate) fn controls(&self) -> bool {
        self.begins == Begins::Controlling
    }

    /// A sum over the text of its module, as it was given.
    pub(crate) fn text(&self) -> u64 {
        self.module.beginnings.sum
    }

    /// Whether kernels that wait may begin before it is over.
    pub(crate) fn may_go_before(&self) -> bool {
        self.begins != Begins::Unknown
    }

    /// The same entry point, of the same parameters, that waits and then lets those behind it begin; none if there is none.
    ///
    /// # Errors
    ///
    /// - The driver had no memory for it, or the context is lost.
    pub(crate) fn signalling(&self, device: &Device) -> Result<Option<&Arc<Function>>> {
        if let Some(known) = self.signalling.get() {
            return Ok(known.as_ref());
        }
        let found = match (self.waits(), self.module.signalling(device)?) {
            (true, Some(module)) if module.begins(&self.name) == Begins::Waiting => {
                let text = Text::read("");
                Some(Arc::new(Function::find(device, module, &text, self.name.clone())?))
            }
            _ => None,
        };
        Ok(self.signalling.get_or_init(|| found).as_ref())
    }

    /// Whether there is none, by the text or because the driver has refused it. Nothing is loaded to find out.
    pub(crate) fn cannot_signal(&self) -> bool {
        match self.signalling.get() {
            Some(known) => known.is_none(),
            None => !self.waits() || !self.module.may_signal(&self.name),
        }
    }

    /// The same entry point that looks at a flag before anything else, with two parameters more: the flag's address, and the
    /// side that it is on. It waits first if this one does. None if there is none, or if it takes smaller blocks.
    ///
    /// # Errors
    ///
    /// - The driver had no memory for it, or the context is lost.
    pub(crate) fn guarded(&self, device: &Device) -> Result<Option<&Arc<Function>>> {
        if let Some(known) = self.guarded.get() {
            return Ok(known.as_ref());
        }
        let found = match self.module.guarded(device)? {
            Some(module) if module.begins(&self.name) == Begins::Waiting => {
                let found = Function::find(device, module, &Text::read(""), self.name.clone())?;
                let fits = found.threads_max >= self.threads_max && found.shared_static <= self.shared_static;
                (fits && found.params.len() == self.params.len() + 2).then(|| Arc::new(found))
            }
            _ => None,
        };
        Ok(self.guarded.get_or_init(|| found).as_ref())
    }

    /// Of this entry point and its others, the one with this handle.
    pub(crate) fn of_handle(&self, raw: CUfunction) -> &Function {
        let others = [&self.signalling, &self.guarded].into_iter().filter_map(|other| other.get()?.as_ref());
        others.into_iter().find(|other| other.raw == raw).map_or(self, |other| other)
    }

    /// Tells the driver that launches want this much dynamic shared memory, where it must be told.
    pub(crate) fn want_shared(&self, device: &Device, bytes: u32) -> Result<()> {
        let free = device.properties().shared_bytes.saturating_sub(self.shared_static);
        if bytes <= free {
            return Ok(());
        }
        self.shared_told.at_least(bytes, || {
            let value = i32::try_from(bytes).unwrap_or(i32::MAX);
            let attribute = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            // SAFETY: the function's module is held.
            let code = unsafe { device.driver().cuFuncSetAttribute(self.raw, attribute, value) };
            device.check(code, Call::cuFuncSetAttribute)
        })
    }
}

impl ModuleSource {
    /// What the driver was told of a function of this module.
    fn told(&self, function: CUfunction) -> Arc<SharedOptIn> {
        let mut all = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, told)) = all.iter().find(|(known, _)| *known == function) {
            return told.clone();
        }
        all.push((function, Arc::default()));
        all[all.len() - 1].1.clone()
    }

    /// A global of the module as memory that ops touch. It holds the module: without it the memory is gone.
    fn global(self: &Arc<ModuleSource>, device: &Device, text: &Text, name: &str) -> Result<Arc<Allocation>> {
        let no_such = || {
            let there = nearest_first(name, text.globals());
            Error::new(ErrorKind::NoSuchKernel { what: "global", name: name.to_string(), there })
        };
        let symbol = CString::new(name).map_err(|zero| no_such().with_source(zero))?;
        let (mut address, mut bytes) = (0, 0);
        let driver = device.driver();
        // SAFETY: both are valid for the write, the module is held, the name ends in a zero.
        match unsafe { driver.cuModuleGetGlobal_v2(&mut address, &mut bytes, self.raw, symbol.as_ptr()) } {
            CUresult::CUDA_ERROR_NOT_FOUND => return Err(no_such()),
            code => device.check(code, Call::cuModuleGetGlobal_v2)?,
        }
        let allocation = Allocation::part_of(device, Kind::State, bytes, self.clone())?;
        allocation.place_at(address);
        Ok(allocation)
    }
}

#[cfg(all(test, feature = "software"))]
mod tests {
    use super::*;

    #[test]
    fn where_the_text_cannot_be_read_the_driver_says_how_many_parameters_there_are() {
        let device = Device::software().unwrap();
        let (module, _) = ModuleSource::load(&device, include_str!("../../tests/promises/kernels.ptx")).unwrap();
        let unknown = Text::read("no PTX");
        let found = Function::find(&device, &module, &unknown, Cow::Borrowed("put")).unwrap();
        assert_eq!(found.params, [(0, 4), (4, 4), (8, 8)]);
    }
}
