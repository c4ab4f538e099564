//! What a module's PTX says of its entry points, where it can be read.
//!
//! - Read once, when a module is loaded, for all that is asked of it then; nothing of it is kept.
//! - A text that `dacapo-ptx` does not know is the driver's to judge: it loads, and nothing is known here.

use dacapo_ptx::ir;

use crate::kernel::check;

/// A PTX text as it was read, or why not.
pub(crate) struct Text(Result<ir::Module, String>);

impl Text {
    pub(crate) fn read(source: &str) -> Text {
        Text(dacapo_ptx::parse(source).map_err(|errors| check::not_read(&errors)))
    }

    /// What was read, or why nothing was.
    pub(crate) fn module(&self) -> Result<&ir::Module, &str> {
        self.0.as_ref().map_err(String::as_str)
    }

    /// An entry point, by its name.
    pub(crate) fn entry(&self, name: &str) -> Option<&ir::Function> {
        let functions = self.0.as_ref().ok()?.functions.iter();
        functions.filter(|function| function.is_kernel && function.name == name).max_by_key(|found| found.has_body)
    }
}

impl Text {
    /// The names of all entry points; none where the text cannot be read.
    pub(crate) fn entries(&self) -> Vec<String> {
        let Ok(module) = &self.0 else { return Vec::new() };
        module.functions.iter().filter(|found| found.is_kernel).map(|found| found.name.clone()).collect()
    }

    /// The names of all variables in global and constant memory, likewise.
    pub(crate) fn globals(&self) -> Vec<String> {
        let Ok(module) = &self.0 else { return Vec::new() };
        let global =
            module.variables.iter().filter(|found| matches!(found.space, ir::Space::Global | ir::Space::Const));
        global.map(|found| found.name.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_of_an_entry_point_are_those_of_its_text_whatever_the_comments_say() {
        let text = Text::read(
            ".version 8.4 .target sm_80 .address_size 64
             .visible .entry a(.param .u64 x, // a pointer (device)
                               /* .param .u32 gone, */ .param .align 8 .b8 y[64]) { ret; }
             .entry b { ret; }
             .func c(.param .u32 n) { ret; }",
        );
        let params = |name: &str| text.entry(name).map(|entry| entry.params.len());
        assert_eq!((params("a"), params("b"), params("c"), params("d")), (Some(2), Some(0), None, None));
    }

    #[test]
    fn of_a_text_that_cannot_be_read_nothing_is_known() {
        assert!(Text::read(".version 99.0 what is this .entry a(.param .u64 x) { ret; }").entry("a").is_none());
    }
}
