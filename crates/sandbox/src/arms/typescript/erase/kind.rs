//! The numbers of kinds of nodes in the release of the compiler that gg is built with, as
//! `enums/syntaxKind` of its package has them.

use std::ops::RangeInclusive;

pub(super) const IDENTIFIER: u32 = 79;
pub(super) const PRIVATE: u32 = 122;
pub(super) const PROTECTED: u32 = 123;
pub(super) const PUBLIC: u32 = 124;
pub(super) const ABSTRACT: u32 = 127;
pub(super) const ACCESSOR: u32 = 128;
pub(super) const DECLARE: u32 = 137;
pub(super) const READONLY: u32 = 148;
pub(super) const OVERRIDE: u32 = 164;
pub(super) const PARAMETER: u32 = 170;
pub(super) const DECORATOR: u32 = 171;
pub(super) const PROPERTY_DECLARATION: u32 = 173;
pub(super) const METHOD_DECLARATION: u32 = 175;
pub(super) const CONSTRUCTOR: u32 = 177;
pub(super) const GET_ACCESSOR: u32 = 178;
pub(super) const SET_ACCESSOR: u32 = 179;
pub(super) const INDEX_SIGNATURE: u32 = 182;
pub(super) const BINDING_ELEMENT: u32 = 209;
pub(super) const PROPERTY_ACCESS: u32 = 212;
pub(super) const CALL: u32 = 214;
pub(super) const NEW: u32 = 215;
pub(super) const TAGGED_TEMPLATE: u32 = 216;
pub(super) const TYPE_ASSERTION: u32 = 217;
pub(super) const FUNCTION_EXPRESSION: u32 = 219;
pub(super) const ARROW_FUNCTION: u32 = 220;
/// `delete`, `typeof`, `void`, `await`, and operators before or behind one operand.
pub(super) const UNARY: RangeInclusive<u32> = 221..=226;
pub(super) const BINARY: u32 = 227;
pub(super) const CLASS_EXPRESSION: u32 = 232;
pub(super) const EXPRESSION_WITH_TYPE_ARGUMENTS: u32 = 234;
pub(super) const AS: u32 = 235;
pub(super) const NON_NULL: u32 = 236;
pub(super) const META_PROPERTY: u32 = 237;
pub(super) const SATISFIES: u32 = 239;
pub(super) const VARIABLE_STATEMENT: u32 = 244;
pub(super) const CONTINUE: u32 = 252;
pub(super) const BREAK: u32 = 253;
pub(super) const LABELED: u32 = 257;
pub(super) const VARIABLE_DECLARATION: u32 = 261;
pub(super) const VARIABLE_DECLARATION_LIST: u32 = 262;
pub(super) const FUNCTION_DECLARATION: u32 = 263;
pub(super) const CLASS_DECLARATION: u32 = 264;
pub(super) const INTERFACE: u32 = 265;
pub(super) const TYPE_ALIAS: u32 = 266;
pub(super) const ENUM: u32 = 267;
pub(super) const MODULE: u32 = 268;
pub(super) const NAMESPACE_EXPORT_DECLARATION: u32 = 271;
pub(super) const IMPORT_EQUALS: u32 = 272;
pub(super) const IMPORT_DECLARATION: u32 = 273;
pub(super) const IMPORT_CLAUSE: u32 = 274;
pub(super) const NAMESPACE_IMPORT: u32 = 275;
pub(super) const NAMED_IMPORTS: u32 = 276;
pub(super) const IMPORT_SPECIFIER: u32 = 277;
pub(super) const EXPORT_ASSIGNMENT: u32 = 278;
pub(super) const EXPORT_DECLARATION: u32 = 279;
pub(super) const NAMED_EXPORTS: u32 = 280;
pub(super) const NAMESPACE_EXPORT: u32 = 281;
pub(super) const JSX: RangeInclusive<u32> = 285..=296;
pub(super) const HERITAGE_CLAUSE: u32 = 299;
pub(super) const IMPORT_ATTRIBUTE: u32 = 302;
pub(super) const PROPERTY_ASSIGNMENT: u32 = 303;
pub(super) const SHORTHAND_PROPERTY_ASSIGNMENT: u32 = 304;
pub(super) const SOURCE_FILE: u32 = 307;
pub(super) const JSDOC: RangeInclusive<u32> = 308..=343;
/// The last kind that a parser makes.
pub(super) const LAST: u32 = 350;
/// Operators that bind tighter than `as`: sums, shifts and products.
pub(super) const TIGHT: [u32; 9] = [39, 40, 41, 42, 43, 44, 47, 48, 49];
/// `**`, whose left side is no operand with an operator before it.
pub(super) const POWER: u32 = 42;
