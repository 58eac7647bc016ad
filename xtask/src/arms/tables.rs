//! The contract as C tables: what a guest in C needs to pass values to gg and back (05 §10.1).
//!
//! Types are described by layout, as the canonical ABI lays them out in memory; each function has a
//! stub with its flat signature. What the tables cannot say fails the build by name.

use std::collections::BTreeMap;
use std::fmt::Write;

use anyhow::{Context, Result, bail};
use wit_parser::abi::{AbiVariant, WasmType};
use wit_parser::{
    Function, Int, Resolve, SizeAlign, Type, TypeDefKind, TypeId, WorldId, WorldItem, WorldKey,
};

/// Writes the header of a world.
pub(super) fn header(resolve: &Resolve, world: WorldId) -> Result<String> {
    let mut sizes = SizeAlign::default();
    sizes.fill(resolve);
    let mut tables = Tables {
        resolve,
        sizes,
        names: BTreeMap::new(),
        out: String::from(
            "// Generated from wit/gg-sandbox.wit by `cargo xtask arms`.\n#pragma once\n\
             #include \"tables.h\"\n\n",
        ),
    };
    let mut rows = Vec::new();
    let mut operations = Vec::new();
    for (key, item) in &resolve.worlds[world].imports {
        let WorldItem::Interface { id, .. } = item else {
            continue;
        };
        let interface = &resolve.interfaces[*id];
        let name = match key {
            WorldKey::Name(name) => name.clone(),
            WorldKey::Interface(_) => interface
                .name
                .clone()
                .context("an interface of the contract has no name")?,
        };
        for function in interface.functions.values() {
            let operation = format!("{}.{}", snake(&name), snake(&function.name));
            tables
                .function(&name, function, &mut rows)
                .with_context(|| format!("`{operation}`"))?;
            if name != "feedback" {
                operations.push(operation);
            }
        }
    }
    let mut out = tables.out;
    writeln!(out, "\nstatic const struct function functions[] = {{")?;
    for row in &rows {
        writeln!(out, "  {row},")?;
    }
    writeln!(out, "}};\n#define FUNCTION_COUNT {}", rows.len())?;
    writeln!(out, "\nstatic const struct text bound_operations[] = {{")?;
    for operation in &operations {
        writeln!(out, "  {{ \"{operation}\", {} }},", operation.len())?;
    }
    writeln!(out, "}};\n#define BOUND_COUNT {}", operations.len())?;
    Ok(out)
}

struct Tables<'a> {
    resolve: &'a Resolve,
    sizes: SizeAlign,
    /// Names of types already written.
    names: BTreeMap<TypeId, String>,
    out: String,
}

impl Tables<'_> {
    /// The C expression of a type's descriptor; writes what it needs first.
    fn ty(&mut self, ty: &Type) -> Result<String> {
        Ok(match ty {
            Type::Bool => "&type_bool".to_owned(),
            Type::U32 => "&type_u32".to_owned(),
            Type::S32 => "&type_s32".to_owned(),
            Type::U64 => "&type_u64".to_owned(),
            Type::F64 => "&type_f64".to_owned(),
            Type::String => "&type_string".to_owned(),
            Type::Id(id) => self.defined(*id)?,
            other => bail!("the tables have no word for {other:?}"),
        })
    }

    fn defined(&mut self, id: TypeId) -> Result<String> {
        if let Some(name) = self.names.get(&id) {
            return Ok(format!("&{name}"));
        }
        let kind = self.resolve.types[id].kind.clone();
        if let TypeDefKind::Type(of) = &kind {
            return self.ty(of);
        }
        let name = match &self.resolve.types[id].name {
            Some(name) => format!("type_{}", snake(name)),
            None => format!("type_{}", id.index()),
        };
        let size = self.sizes.size(&Type::Id(id)).size_wasm32();
        let align = self.sizes.align(&Type::Id(id)).align_wasm32();
        let head = format!(".size = {size}, .align = {align}");
        let body = match &kind {
            TypeDefKind::Record(record) => {
                let types: Vec<_> = record.fields.iter().map(|field| field.ty).collect();
                let offsets: Vec<_> = self
                    .sizes
                    .field_offsets(&types)
                    .iter()
                    .map(|(offset, _)| offset.size_wasm32())
                    .collect();
                let mut rows = Vec::new();
                for (field, offset) in record.fields.iter().zip(offsets) {
                    let of = self.ty(&field.ty)?;
                    rows.push(format!("{{ \"{}\", {of}, {offset} }}", camel(&field.name)));
                }
                self.rows(&name, &rows)?;
                format!(
                    ".kind = KIND_RECORD, {head}, .fields = {name}_fields, .count = {}",
                    rows.len()
                )
            }
            TypeDefKind::Variant(variant) => {
                let cases: Vec<_> = variant.cases.iter().map(|case| case.ty).collect();
                let payload = self
                    .sizes
                    .payload_offset(variant.tag(), cases.iter().map(Option::as_ref))
                    .size_wasm32();
                ensure_byte(variant.tag())?;
                let mut rows = Vec::new();
                for case in &variant.cases {
                    let of = match &case.ty {
                        Some(ty) => self.ty(ty)?,
                        None => "0".to_owned(),
                    };
                    rows.push(format!("{{ \"{}\", {of}, {payload} }}", case.name));
                }
                self.rows(&name, &rows)?;
                format!(
                    ".kind = KIND_VARIANT, {head}, .fields = {name}_fields, .count = {}, \
                     .payload = {payload}",
                    rows.len()
                )
            }
            TypeDefKind::Enum(words) => {
                ensure_byte(words.tag())?;
                let rows: Vec<_> = words
                    .cases
                    .iter()
                    .map(|case| format!("{{ \"{}\", 0, 0 }}", case.name))
                    .collect();
                self.rows(&name, &rows)?;
                format!(
                    ".kind = KIND_ENUM, {head}, .fields = {name}_fields, .count = {}",
                    rows.len()
                )
            }
            TypeDefKind::Option(of) => {
                let payload = self
                    .sizes
                    .payload_offset(Int::U8, [None, Some(of)])
                    .size_wasm32();
                let of = self.ty(of)?;
                format!(".kind = KIND_OPTION, {head}, .of = {of}, .payload = {payload}")
            }
            TypeDefKind::List(of) => {
                let of = self.ty(of)?;
                format!(".kind = KIND_LIST, {head}, .of = {of}")
            }
            other => bail!("the tables have no word for a {}", other.as_str()),
        };
        writeln!(self.out, "static const struct type {name} = {{ {body} }};")?;
        self.names.insert(id, name.clone());
        Ok(format!("&{name}"))
    }

    fn rows(&mut self, name: &str, rows: &[String]) -> Result<()> {
        writeln!(
            self.out,
            "static const struct field {name}_fields[] = {{ {} }};",
            rows.join(", ")
        )?;
        Ok(())
    }

    fn function(
        &mut self,
        interface: &str,
        function: &Function,
        rows: &mut Vec<String>,
    ) -> Result<()> {
        let name = format!("{}_{}", snake(interface), snake(&function.name));
        let types: Vec<_> = function.params.iter().map(|param| param.ty).collect();
        let layout = self.sizes.params(&types);
        let offsets: Vec<_> = self
            .sizes
            .field_offsets(&types)
            .iter()
            .map(|(offset, _)| offset.size_wasm32())
            .collect();
        let mut fields = Vec::new();
        for (param, offset) in function.params.iter().zip(offsets) {
            let of = self.ty(&param.ty)?;
            fields.push(format!("{{ \"{}\", {of}, {offset} }}", camel(&param.name)));
        }
        if !fields.is_empty() {
            self.rows(&format!("params_{name}"), &fields)?;
        }
        // Calls answer `result<T, api-error>`; those of feedback answer nothing.
        let (ok, result) = match &function.result {
            None => (None, None),
            Some(Type::Id(id)) => match &self.resolve.types[*id].kind {
                TypeDefKind::Result(result) => {
                    let (ok, err) = (result.ok, result.err);
                    let err = err.context("a result without a failure")?;
                    let size = self.sizes.size(&Type::Id(*id)).size_wasm32();
                    let payload = self
                        .sizes
                        .payload_offset(Int::U8, [ok.as_ref(), Some(&err)])
                        .size_wasm32();
                    let failure = self.ty(&err)?;
                    let value = match ok {
                        Some(ty) => Some(self.ty(&ty)?),
                        None => None,
                    };
                    (value, Some((size, payload, failure)))
                }
                other => bail!("answers a {}, not a result", other.as_str()),
            },
            Some(other) => bail!("answers {other:?}, not a result"),
        };
        let signature = self
            .resolve
            .wasm_signature(AbiVariant::GuestImport, function);
        if signature.retptr != result.is_some() || !signature.results.is_empty() {
            bail!("answers in a way that the stubs do not know");
        }
        let mut params = Vec::new();
        let mut arguments = Vec::new();
        let count = signature.params.len() - usize::from(signature.retptr);
        for (at, ty) in signature.params.iter().enumerate() {
            let (c, flat) = match ty {
                WasmType::I32 | WasmType::Pointer | WasmType::Length => ("int32_t", "i32"),
                WasmType::I64 => ("int64_t", "i64"),
                WasmType::F64 => ("double", "f64"),
                other => bail!("passes a {other:?}"),
            };
            params.push(c);
            arguments.push(match (at == count, signature.indirect_params) {
                (true, _) => "(int32_t)(intptr_t)result".to_owned(),
                (false, true) => "(int32_t)(intptr_t)memory".to_owned(),
                (false, false) => format!("flat[{at}].{flat}"),
            });
        }
        writeln!(
            self.out,
            "__attribute__((import_module(\"test-cabinet:gg/{interface}\"), \
             import_name(\"{}\"))) extern void import_{name}({});",
            function.name,
            if params.is_empty() {
                "void".to_owned()
            } else {
                params.join(", ")
            },
        )?;
        writeln!(
            self.out,
            "static void invoke_{name}(const union flat *flat, void *memory, void *result) {{ \
             (void)flat; (void)memory; (void)result; import_{name}({}); }}",
            arguments.join(", ")
        )?;
        let (result_size, payload, failure) = result.unwrap_or((0, 0, "0".to_owned()));
        rows.push(format!(
            "{{ .operation = \"{}.{}\", .key = \"{}\", .params = {}, .count = {}, .params_size = {}, \
             .spilled = {}, .ok = {}, .failure = {failure}, .result_size = {result_size}, \
             .payload = {payload}, .invoke = invoke_{name} }}",
            snake(interface),
            snake(&function.name),
            snake(&function.name),
            if fields.is_empty() { "0".to_owned() } else { format!("params_{name}_fields") },
            fields.len(),
            layout.size.size_wasm32(),
            u8::from(signature.indirect_params),
            ok.unwrap_or_else(|| "0".to_owned()),
        ));
        Ok(())
    }
}

fn ensure_byte(tag: Int) -> Result<()> {
    if tag != Int::U8 {
        bail!("more than 256 cases");
    }
    Ok(())
}

fn snake(kebab: &str) -> String {
    kebab.replace('-', "_")
}

fn camel(kebab: &str) -> String {
    let mut parts = kebab.split('-');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut characters = part.chars();
        out.extend(characters.next().map(|first| first.to_ascii_uppercase()));
        out.extend(characters);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(functions: &str) -> Result<String> {
        let mut resolve = Resolve::default();
        let text = format!(
            "package a:b; interface i {{ record e {{ m: string }} {functions} }} \
             world w {{ import i; }}"
        );
        let package = resolve.push_str("a.wit", &text).unwrap();
        let world = resolve.select_world(&[package], Some("w")).unwrap();
        header(&resolve, world)
    }

    #[test]
    fn a_function_is_described_by_layout_and_flat_signature() {
        let header = of("f: func(a: string, b-c: option<f64>) -> result<list<u32>, e>;").unwrap();
        assert!(
            header.contains("import_i_f(int32_t, int32_t, int32_t, double, int32_t);"),
            "{header}"
        );
        assert!(header.contains("{ \"bC\", &type_"), "{header}");
        assert!(header.contains("\"i.f\", 3"), "{header}");
        assert!(header.contains(".params_size = 24"), "{header}");
    }

    #[test]
    fn what_has_no_table_fails_by_name() {
        let told = |functions| format!("{:#}", of(functions).unwrap_err());
        assert_eq!(
            told("f: func(a: tuple<u32, u32>) -> result<_, e>;"),
            "`i.f`: the tables have no word for a tuple"
        );
        assert_eq!(
            told("g: func(a: char) -> result<_, e>;"),
            "`i.g`: the tables have no word for Char"
        );
        assert_eq!(
            told("h: func() -> u32;"),
            "`i.h`: answers U32, not a result"
        );
    }
}
