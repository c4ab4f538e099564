//! What each result code means, as a sentence: what `cuGetErrorString` gives.
//!
//! The words are ours. NVIDIA's driver has others, and no program should compare them.

use std::ffi::CStr;

use dacapo_driver::CUresult;

/// The sentence of a code that has a name.
pub(crate) fn sentence(code: CUresult) -> Option<&'static CStr> {
    let at = SENTENCES.binary_search_by_key(&code.0, |(number, _)| *number).ok()?;
    Some(SENTENCES[at].1)
}

#[rustfmt::skip]
const SENTENCES: &[(u32, &CStr)] = &[
    (0, c"the call succeeded"),
    (1, c"an argument of the call is not one that it takes"),
    (2, c"there is not enough memory for what was asked"),
    (3, c"cuInit has not been called, or has failed"),
    (4, c"the driver is shutting down"),
    (5, c"profiling is in the hands of an external tool"),
    (6, c"the profiler has not been initialised"),
    (7, c"the profiler runs already"),
    (8, c"the profiler has been stopped already"),
    (34, c"this library is a stub without a driver behind it"),
    (36, c"the installed driver is too old for this call"),
    (46, c"the device is busy, or not available to this process"),
    (100, c"no device was found"),
    (101, c"there is no device of this number"),
    (102, c"the device has no valid licence"),
    (200, c"the image is not code that a device could load"),
    (201, c"no context is current, or the context is not a valid one"),
    (202, c"the context is current already"),
    (205, c"the resource could not be mapped"),
    (206, c"the resource could not be unmapped"),
    (207, c"the array is mapped, and cannot be destroyed"),
    (208, c"the resource is mapped already"),
    (209, c"the image has no code for this device"),
    (210, c"the resource has been acquired already"),
    (211, c"the resource is not mapped"),
    (212, c"the resource is not mapped for use as an array"),
    (213, c"the resource is not mapped for use as a pointer"),
    (214, c"memory had an error that could not be corrected"),
    (215, c"the device has no such limit"),
    (216, c"the context is in use by another thread"),
    (217, c"these two devices cannot access each other's memory"),
    (218, c"the PTX text could not be compiled"),
    (219, c"the graphics context is not valid"),
    (220, c"an NVLink connection had an error that could not be corrected"),
    (221, c"the compiler for PTX was not found"),
    (222, c"the PTX text is of a version that is newer than the driver"),
    (223, c"compiling PTX has been switched off"),
    (224, c"the device does not take this execution affinity"),
    (225, c"the PTX text waits for kernels on the device, which is no longer supported"),
    (226, c"an access to another device's memory failed, and the damage was contained"),
    (300, c"the kernel's source is not valid"),
    (301, c"the file was not found"),
    (302, c"a symbol of a shared library was not found"),
    (303, c"a shared library could not be initialised"),
    (304, c"a call of the operating system failed"),
    (400, c"a handle does not name a live object of its kind"),
    (401, c"the object is not in a state that allows this"),
    (402, c"the answer would leave out something that matters"),
    (500, c"nothing of this name was found"),
    (600, c"the work is not done yet"),
    (700, c"a kernel accessed an address that it may not"),
    (701, c"the launch needs more of the device's resources than there are"),
    (702, c"a kernel ran for too long and was ended"),
    (703, c"the launch uses textures in a way that does not fit"),
    (704, c"access to this device's memory is enabled already"),
    (705, c"access to this device's memory is not enabled"),
    (708, c"the primary context is active, and this can no longer be set"),
    (709, c"the context has been destroyed"),
    (710, c"an assertion in a kernel failed"),
    (711, c"there is no room for another peer"),
    (712, c"the host memory, or a part of it, is registered already"),
    (713, c"the host memory is not registered"),
    (714, c"a kernel broke its call stack"),
    (715, c"a kernel executed an instruction that is not legal"),
    (716, c"a kernel accessed an address that is not aligned"),
    (717, c"an instruction was used on memory that it is not for"),
    (718, c"a kernel jumped to an address where no code is"),
    (719, c"a kernel failed for a reason that is not known"),
    (720, c"a cooperative launch has more blocks than fit on the device at once"),
    (721, c"a kernel ended without freeing its tensor memory"),
    (800, c"this is not permitted, here and now"),
    (801, c"this is not supported, by this driver or this device"),
    (802, c"the system is not ready yet"),
    (803, c"the parts of the driver are of different versions"),
    (804, c"the device does not allow a newer driver than the system's"),
    (805, c"the connection to the MPS server could not be made"),
    (806, c"a call between MPS client and server failed"),
    (807, c"the MPS server is not ready for new clients"),
    (808, c"the MPS server has no room for another client"),
    (809, c"the MPS server has no room for another connection"),
    (810, c"the MPS server has ended this client"),
    (811, c"kernels that launch kernels are not supported in this configuration"),
    (812, c"kernels that launch kernels are of different versions"),
    (900, c"the call is not permitted while the stream is capturing"),
    (901, c"the capture was broken by an earlier error"),
    (902, c"the call would join two captures into one"),
    (903, c"the capture did not begin on this stream"),
    (904, c"the capture has work on other streams that was not joined"),
    (905, c"work outside the capture would have to be waited for"),
    (906, c"the legacy stream would have to wait for a capturing stream"),
    (907, c"the event was last recorded in a capture"),
    (908, c"the capture belongs to another thread"),
    (909, c"the wait took longer than it was given"),
    (910, c"the executable graph cannot take these changes"),
    (911, c"a device outside of CUDA has reported an error"),
    (912, c"the clusters of the launch do not fit its grid or the device"),
    (913, c"the function is not loaded"),
    (914, c"a resource is of a type that this call does not take"),
    (915, c"the resources are too few, or do not fit each other"),
    (916, c"an exchange of encryption keys failed"),
    (999, c"something failed for a reason that is not known"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_with_a_name_has_a_sentence_and_no_other_has() {
        let named: Vec<u32> = CUresult::NAMED.iter().map(|(code, _)| code.0).collect();
        let said: Vec<u32> = SENTENCES.iter().map(|(number, _)| *number).collect();
        assert_eq!(said, named);
        assert_eq!(sentence(CUresult(12_345)), None);
    }
}
