//! Signatures in one form, each on one line.
//!
//! An item is given to prettyplease under a stand-in for its name, without its body; what comes out is joined to one
//! line, and the stand-in becomes the path. What comes in has its paths rewritten already (`paths`).

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::{
    Fields, FnArg, Generics, Ident, Item, ItemFn, ItemImpl, ItemStruct, ItemTrait, ItemType, Pat, Signature, Type,
    Visibility, WherePredicate,
};

/// Stands where the name will stand.
const NAME: &str = "name_of_the_item";

/// `fn path(..) -> ..`.
pub fn function(path: &str, mut signature: Signature) -> String {
    signature.ident = stand_in();
    for argument in &mut signature.inputs {
        match argument {
            FnArg::Receiver(receiver) => {
                receiver.attrs.clear();
                // `mut self` is the body's business.
                receiver.mutability = None;
            }
            FnArg::Typed(typed) => {
                typed.attrs.clear();
                match &mut *typed.pat {
                    Pat::Ident(pattern) => (pattern.by_ref, pattern.mutability) = (None, None),
                    other => *other = syn::parse_quote!(_),
                }
            }
        }
    }
    let block = syn::parse_quote!({});
    let vis = Visibility::Inherited;
    let made = ItemFn { attrs: Vec::new(), vis, modifiers: Default::default(), sig: signature, block };
    named(path, &one_line(Item::Fn(made)))
}

/// A type.
pub fn ty(ty: &Type) -> String {
    let made: ItemType = syn::parse_quote!(type X = #ty;);
    let text = one_line(Item::Type(made));
    text.trim_start_matches("type X = ").to_string()
}

/// `struct path<..>`, without its fields.
pub fn head(kind: &str, path: &str, generics: &Generics) -> String {
    let made = ItemStruct {
        attrs: Vec::new(),
        vis: Visibility::Inherited,
        struct_token: Default::default(),
        ident: stand_in(),
        generics: generics.clone(),
        fields: Fields::Unit,
        semi_token: Some(Default::default()),
    };
    let text = named(path, &one_line(Item::Struct(made)));
    text.replacen("struct", kind, 1)
}

/// What stands behind the name of a struct or a variant: `{ a: u8 }`, `(u8)` or nothing.
pub fn fields(mut fields: Fields) -> String {
    for field in &mut fields {
        field.attrs.clear();
        field.vis = Visibility::Inherited;
    }
    let made = ItemStruct {
        attrs: Vec::new(),
        vis: Visibility::Inherited,
        struct_token: Default::default(),
        ident: stand_in(),
        generics: Generics::default(),
        semi_token: Some(Default::default()),
        fields,
    };
    one_line(Item::Struct(made)).replacen(&format!("struct {NAME}"), "", 1)
}

/// `type path<..> = ..`.
pub fn alias(path: &str, mut made: ItemType) -> String {
    (made.attrs, made.vis, made.ident) = (Vec::new(), Visibility::Inherited, stand_in());
    named(path, &one_line(Item::Type(made)))
}

/// `trait path<..>: ..`, without its members.
pub fn traits(path: &str, mut made: ItemTrait) -> String {
    (made.attrs, made.vis, made.ident) = (Vec::new(), Visibility::Inherited, stand_in());
    made.items.clear();
    named(path, &one_line(Item::Trait(made)))
}

/// `type path: ..`, a member of a trait.
pub fn associated(path: &str, mut made: syn::TraitItemType) -> String {
    (made.attrs, made.ident) = (Vec::new(), stand_in());
    let mut around: ItemTrait = syn::parse_quote!(
        trait X {}
    );
    around.items.push(syn::TraitItem::Type(made));
    let text = one_line(Item::Trait(around));
    let text = text.trim_start_matches("trait X {").trim_end_matches('}').trim().trim_end_matches(';');
    named(path, text)
}

/// `impl<..> Trait for Type { type Name = ..; }`.
pub fn implementation(mut made: ItemImpl) -> String {
    made.attrs.clear();
    made.items.retain(|item| matches!(item, syn::ImplItem::Type(_)));
    for item in &mut made.items {
        if let syn::ImplItem::Type(item) = item {
            item.attrs.clear();
        }
    }
    one_line(Item::Impl(made))
}

/// The conditions of generics, all of them as they stand behind `where`.
pub fn conditions(generics: &Generics) -> Vec<WherePredicate> {
    let mut found: Vec<WherePredicate> = Vec::new();
    for parameter in &generics.params {
        match parameter {
            syn::GenericParam::Type(it) if !it.bounds.is_empty() => {
                let (name, bounds) = (&it.ident, &it.bounds);
                found.push(syn::parse_quote!(#name: #bounds));
            }
            syn::GenericParam::Lifetime(it) if !it.bounds.is_empty() => {
                let (name, bounds) = (&it.lifetime, &it.bounds);
                found.push(syn::parse_quote!(#name: #bounds));
            }
            _ => {}
        }
    }
    found.extend(generics.where_clause.iter().flat_map(|clause| clause.predicates.iter().cloned()));
    found
}

/// Adds conditions in front of those that generics have.
pub fn add_conditions(generics: &mut Generics, mut more: Vec<WherePredicate>) {
    if more.is_empty() {
        return;
    }
    let clause = generics.make_where_clause();
    more.extend(std::mem::replace(&mut clause.predicates, Punctuated::new()));
    clause.predicates = more.into_iter().collect();
}

/// What one arm of a macro takes.
pub fn matcher(arm: &proc_macro2::TokenStream) -> String {
    let made: syn::ItemMacro = syn::parse_quote!(
        macro_rules! x {
            (#arm) => {};
        }
    );
    let text = joined(&prettyplease::unparse(&file(Item::Macro(made))));
    text.trim_start_matches("macro_rules! x {").trim_end_matches("=> {}; }").trim().to_string()
}

fn stand_in() -> Ident {
    Ident::new(NAME, Span::call_site())
}

fn named(path: &str, text: &str) -> String {
    text.replacen(NAME, path, 1)
}

fn file(item: Item) -> syn::File {
    syn::File { shebang: None, frontmatter: None, attrs: Vec::new(), items: vec![item] }
}

/// The item on one line, without an empty body at its end.
fn one_line(item: Item) -> String {
    let text = joined(&prettyplease::unparse(&file(item)));
    let text = text.trim_end_matches("{}").trim_end_matches(';').trim_end();
    text.trim_end_matches(',').to_string()
}

/// Lines of rustfmt's form joined to one.
fn joined(text: &str) -> String {
    let mut line = String::new();
    for next in text.lines().map(str::trim).filter(|next| !next.is_empty()) {
        if next.starts_with([')', ']', '>', '{', '}']) {
            line.truncate(line.trim_end_matches(',').len());
        }
        let tight = line.is_empty() || line.ends_with(['(', '[', '<']) || next.starts_with([')', ']', '>', '.']);
        line += if tight { "" } else { " " };
        line += next;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_signature_is_one_line_as_a_short_one_is() {
        let short: ItemFn = syn::parse_quote! { pub const unsafe fn f(mut self, (a, b): (u8, u8)) -> u8 { 1 } };
        assert_eq!(function("a::f", short.sig), "const unsafe fn a::f(self, _: (u8, u8)) -> u8");
        let long: ItemFn = syn::parse_quote! {
            fn f<'a, First: Clone + Send + Sync + 'static, Second>(
                first: &'a mut First, second: impl Fn(&First) -> Second + Send,
            ) -> Result<(First, Second), Box<dyn std::error::Error>>
            where Second: Copy, First: Iterator<Item = Vec<Second>> {}
        };
        assert_eq!(
            function("f", long.sig),
            "fn f<'a, First: Clone + Send + Sync + 'static, Second>(first: &'a mut First, \
             second: impl Fn(&First) -> Second + Send) -> Result<(First, Second), Box<dyn std::error::Error>> \
             where Second: Copy, First: Iterator<Item = Vec<Second>>"
        );
    }

    #[test]
    fn every_other_form_is_one_line_too() {
        let it: ItemStruct = syn::parse_quote! { struct S<T> where T: Copy { a: Vec<T>, b: [u8; 4] } };
        assert_eq!(head("union", "a::S", &it.generics), "union a::S<T> where T: Copy");
        assert_eq!(fields(it.fields), " { a: Vec<T>, b: [u8; 4] }");
        let it: ItemTrait = syn::parse_quote! { pub unsafe trait T<A>: Send + for<'a> Fn(&'a A) { fn f(); } };
        assert_eq!(traits("a::T", it), "unsafe trait a::T<A>: Send + for<'a> Fn(&'a A)");
        let it: ItemImpl = syn::parse_quote! { impl<T: Copy> Deref for S<T> { type Target = [T]; fn deref(&self) {} } };
        assert_eq!(implementation(it), "impl<T: Copy> Deref for S<T> { type Target = [T]; }");
        let it: ItemImpl = syn::parse_quote! { impl<T> Deref for S<T> where T: Copy { type Target = [T]; } };
        assert_eq!(implementation(it), "impl<T> Deref for S<T> where T: Copy { type Target = [T]; }");
        assert_eq!(
            matcher(&quote::quote!($(#[$m:meta])* $v:vis struct $n:ident)),
            "($(#[$m:meta])* $v:vis struct $n:ident)"
        );
    }
}
