//! `#[derive(Pod)]` for the crate `dacapo`, which re-exports it; not for use by itself.
//!
//! What it promises with `unsafe`, it makes the compiler check: the layout is declared, every field is plain data
//! itself, and there are no bytes between them. No check depends on a name that the program may give to something else:
//! `::core` too can be a crate of its own.

use proc_macro::TokenStream;
use proc_macro2::{Span, TokenStream as Tokens};
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Error, Path, Result, parse_macro_input, parse_quote};

/// Makes a `#[repr(C)]` or `#[repr(transparent)]` struct plain data that a GPU can hold.
///
/// Every field must be, and there must be no padding. `Clone`, `Copy` and `Debug` are derived beside it. Where the crate
/// `dacapo` has another name or place, `#[dacapo(crate = other::dacapo)]` says so.
#[proc_macro_derive(Pod, attributes(dacapo))]
pub fn derive_pod(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    pod(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn pod(input: &DeriveInput) -> Result<Tokens> {
    let name = &input.ident;
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(
            name,
            "only a struct is plain data: not every bit pattern is an enum or a union",
        ));
    };
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &input.generics,
            "a struct with parameters may have padding for some of them: derive `Pod` for one without",
        ));
    }
    if !is_laid_out(&input.attrs)? {
        return Err(Error::new_spanned(
            name,
            "`Pod` needs `#[repr(C)]`: without it the fields may lie in any order, and a kernel must know theirs",
        ));
    }
    let dacapo = crate_path(&input.attrs)?;
    let types: Vec<_> = data.fields.iter().map(|field| &field.ty).collect();
    let sizes: Vec<Tokens> = types.iter().map(|ty| size_of(quote!(#ty))).collect();
    let size = size_of(quote!(#name));
    let padding = format!(
        "`{name}` has padding between or behind its fields: order them by size, or add fields for the bytes in between"
    );
    Ok(quote! {
        const _: () = {
            const fn is_pod<T: #dacapo::Pod>() {}
            #(is_pod::<#types>();)*
            // By the very path that is promised below, whatever a `crate = ..` makes of it.
            const fn is_plain<T: #dacapo::bytemuck::Pod + #dacapo::bytemuck::Zeroable>() {}
            #(is_plain::<#types>();)*
            // For its message; what counts is the line behind it.
            ::core::assert!(::core::mem::size_of::<#name>() == 0 #(+ ::core::mem::size_of::<#types>())*, #padding);
            [(); 1][(#size != 0 #(+ #sizes)*) as usize]
        };
        // SAFETY: the layout is declared, every field is plain data, and nothing lies between them: checked above.
        unsafe impl #dacapo::bytemuck::Zeroable for #name {}
        // SAFETY: as above.
        unsafe impl #dacapo::bytemuck::Pod for #name {}
        impl #dacapo::Pod for #name {}
    })
}

/// The size of a type as a number, by the language alone: the distance of two places in an array.
///
/// A program that has another `u8` changes the unit of all sizes alike, and one in which a size is not a whole number is no
/// constant; with another `usize` the index above is none.
fn size_of(ty: Tokens) -> Tokens {
    quote! {{
        // As large as the type, and made without a value of it.
        #[repr(C)]
        union __DacapoRoom {
            nothing: (),
            #[allow(dead_code)]
            something: #ty,
        }
        let rooms = [__DacapoRoom { nothing: () }, __DacapoRoom { nothing: () }];
        // SAFETY: both are places in one array.
        unsafe { (&raw const rooms[1] as *const u8).offset_from(&raw const rooms[0] as *const u8) }
    }}
}

/// Whether the order of the fields is declared.
fn is_laid_out(attributes: &[Attribute]) -> Result<bool> {
    let mut found = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        attribute.parse_nested_meta(|meta| {
            found |= meta.path.is_ident("C") || meta.path.is_ident("transparent");
            // `align(8)`, `packed(2)`
            if meta.input.peek(syn::token::Paren) {
                let inside;
                syn::parenthesized!(inside in meta.input);
                inside.parse::<Tokens>()?;
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// Where the crate `dacapo` is: `#[dacapo(crate = ..)]`, else by its own name.
fn crate_path(attributes: &[Attribute]) -> Result<Path> {
    let mut path: Path = parse_quote!(::dacapo);
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("dacapo")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("crate") {
                return Err(Error::new(Span::call_site(), "`#[dacapo(crate = path::to::dacapo)]` is all there is"));
            }
            path = meta.value()?.call(Path::parse_mod_style)?;
            Ok(())
        })?;
    }
    Ok(path)
}
