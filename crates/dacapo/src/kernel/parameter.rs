//! Declared parameters as types: what each takes from its caller, and what is known of it before that.
//!
//! `kernels!` writes every parameter as one of these markers; the rest follows from the type.
//!
//! | declared | marker | taken |
//! |---|---|---|
//! | `x: &[f32]` | `Read<[f32]>` | `&Slice<f32>` |
//! | `y: &mut [f32]` | `Write<[f32]>` | `&mut Slice<f32>` |
//! | `z: &out [f32]` | `Out<[f32]>` | `&mut Slice<f32>` |
//! | `s: &f32` | `Read<One<f32>>` | `&Element<f32>` |
//! | `l: &mut f32` | `Write<One<f32>>` | `&mut Element<f32>` |
//! | `m: &out f32` | `Out<One<f32>>` | `&mut Element<f32>` |
//! | `a: f32` | `ByValue<f32>` | `impl Value<f32>` |
//! | `n: u32 = y.len()` | `Derived<u32>` | nothing |
//!
//! A marker that writes takes `&mut` and nothing less. Only the library implements these traits.

use std::marker::PhantomData;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::element::Pod;
use crate::kernel::{ElementArg, Param, ParamKind, PointerMode, SliceArg};
use crate::memory::{Access, Accesses, Element, Mode, Slice};
use crate::value::{AnySlot, Val, Value};

/// The address of memory that is read.
#[doc(hidden)]
pub struct Read<P: ?Sized>(PhantomData<P>);

/// The address of memory that is written, and may be read.
#[doc(hidden)]
pub struct Write<P: ?Sized>(PhantomData<P>);

/// The address of memory that is written whole and not read before.
#[doc(hidden)]
pub struct Out<P: ?Sized>(PhantomData<P>);

/// One value in device memory, where `[T]` is many.
#[doc(hidden)]
pub struct One<T>(PhantomData<T>);

/// A value.
#[doc(hidden)]
pub struct ByValue<T>(PhantomData<T>);

/// A value that is computed from the other arguments.
#[doc(hidden)]
pub struct Derived<T>(PhantomData<T>);

mod sealed {
    use super::{ByValue, Derived, One, Out, Read, Write};

    pub trait Sealed {}
    impl<P: ?Sized> Sealed for Read<P> {}
    impl<P: ?Sized> Sealed for Write<P> {}
    impl<P: ?Sized> Sealed for Out<P> {}
    impl<T> Sealed for One<T> {}
    impl<T> Sealed for [T] {}
    impl<T> Sealed for ByValue<T> {}
    impl<T> Sealed for Derived<T> {}
}

/// What a declared parameter is.
#[doc(hidden)]
pub trait Parameter: sealed::Sealed {
    /// As data, but for its name and the text of its type.
    const PARAM: Param;
}

/// A parameter that the caller gives an argument of the type `A` for.
#[doc(hidden)]
pub trait Takes<A>: Parameter {
    /// The argument inside the recipe.
    type Held;
    /// Describes the argument to `given`.
    fn take(name: &'static str, argument: A, given: &mut Given) -> Self::Held;
}

/// What an address leads to: `[T]` or [`One<T>`](One).
#[doc(hidden)]
pub trait Pointee: sealed::Sealed {
    type Element: Pod;
    /// What is borrowed.
    type Lent: ?Sized;
    /// What is left of it inside the recipe.
    type Held;
    /// Whether it is one value.
    const ONE: bool;
    fn elements(lent: &Self::Lent) -> &Slice<Self::Element>;
    /// These elements as the access of this number.
    fn held(access: usize, elements: &Slice<Self::Element>) -> Self::Held;
}

impl<T: Pod> Pointee for [T] {
    type Element = T;
    type Lent = Slice<T>;
    type Held = SliceArg;
    const ONE: bool = false;

    fn elements(lent: &Slice<T>) -> &Slice<T> {
        lent
    }

    fn held(access: usize, elements: &Slice<T>) -> SliceArg {
        SliceArg::new(access, elements.len())
    }
}

impl<T: Pod> Pointee for One<T> {
    type Element = T;
    type Lent = Element<T>;
    type Held = ElementArg;
    const ONE: bool = true;

    fn elements(lent: &Element<T>) -> &Slice<T> {
        lent.as_slice()
    }

    fn held(_: usize, _: &Slice<T>) -> ElementArg {
        ElementArg
    }
}

impl<P: Pointee + ?Sized> Parameter for Read<P> {
    const PARAM: Param = Param::pointer::<P::Element>("", "", PointerMode::Read, P::ONE);
}

impl<'a, P: Pointee + ?Sized> Takes<&'a P::Lent> for Read<P> {
    type Held = P::Held;
    fn take(name: &'static str, argument: &'a P::Lent, given: &mut Given) -> P::Held {
        given.memory::<P>(name, argument, Mode::Read)
    }
}

impl<P: Pointee + ?Sized> Parameter for Write<P> {
    const PARAM: Param = Param::pointer::<P::Element>("", "", PointerMode::Write, P::ONE);
}

impl<'a, P: Pointee + ?Sized> Takes<&'a mut P::Lent> for Write<P> {
    type Held = P::Held;
    fn take(name: &'static str, argument: &'a mut P::Lent, given: &mut Given) -> P::Held {
        given.memory::<P>(name, argument, Mode::Write)
    }
}

impl<P: Pointee + ?Sized> Parameter for Out<P> {
    const PARAM: Param = Param::pointer::<P::Element>("", "", PointerMode::Out, P::ONE);
}

impl<'a, P: Pointee + ?Sized> Takes<&'a mut P::Lent> for Out<P> {
    type Held = P::Held;
    fn take(name: &'static str, argument: &'a mut P::Lent, given: &mut Given) -> P::Held {
        given.memory::<P>(name, argument, Mode::Out)
    }
}

impl<T: Pod> Parameter for ByValue<T> {
    const PARAM: Param = Param::value::<T>("", "", ParamKind::Value);
}

impl<T: Pod, V: Value<T>> Takes<V> for ByValue<T> {
    type Held = Val<T>;
    fn take(_: &'static str, argument: V, given: &mut Given) -> Val<T> {
        let held = argument.into_val();
        given.slots.push(held.slot());
        held
    }
}

impl<T: Pod> Parameter for Derived<T> {
    const PARAM: Param = Param::value::<T>("", "", ParamKind::Derived);
}

/// What a method was given: memory in the order of its addresses, and the slots of its values.
#[doc(hidden)]
#[derive(Default)]
pub struct Given {
    pub(crate) access: Accesses,
    /// One for each value; none where it is baked.
    pub(crate) slots: SmallVec<[Option<Arc<AnySlot>>; 4]>,
}

impl Given {
    /// Takes the next argument, which is for a parameter `P`.
    pub fn take<P: Takes<A>, A>(&mut self, name: &'static str, argument: A) -> P::Held {
        P::take(name, argument, self)
    }

    /// What an address leads to, as the next access.
    fn memory<P: Pointee + ?Sized>(&mut self, name: &'static str, lent: &P::Lent, mode: Mode) -> P::Held {
        let elements = P::elements(lent);
        let held = P::held(self.access.len(), elements);
        self.access.push(Access::new(name, elements, mode));
        held
    }
}

#[cfg(all(test, feature = "software"))]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::value::{Slot, baked};

    #[test]
    fn each_argument_is_described_as_its_marker_says() {
        let device = Device::software().unwrap();
        let (x, mut y) = (device.zeros::<f32>(3).unwrap(), device.zeros::<f32>(5).unwrap());
        let mut z = device.zeros::<u8>(7).unwrap();
        let (mut s, slot) = (device.scalar(1.0f32).unwrap(), Slot::new(2u32));
        let mut given = Given::default();
        given.take::<ByValue<f32>, _>("a", baked(1.0));
        given.take::<Read<[f32]>, _>("x", &x[..]);
        given.take::<Write<[f32]>, _>("y", &mut y[1..]);
        given.take::<Read<One<f32>>, _>("s", &*s);
        given.take::<Write<One<f32>>, _>("t", &mut *s);
        given.take::<Out<One<f32>>, _>("u", &mut *s);
        given.take::<ByValue<u32>, _>("b", &slot);
        given.take::<Out<[u8]>, _>("z", &mut z[..]);
        let shown = given.access.iter().map(|access| format!("{} {:?} {}", access.name, access.mode, access.len()));
        let expected = ["x Read 3", "y Write 4", "s Read 1", "t Write 1", "u Out 1", "z Out 7"];
        assert_eq!(shown.collect::<Vec<_>>(), expected);
        assert_eq!(given.slots.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true]);
    }
}
