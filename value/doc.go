// Package value holds data as JavaScript sees it: ordered objects, numbers, JSON and
// UTF-16 lengths.
//
// A value from a suite, a model or a script is an `any` that holds nil (null), bool,
// float64, string, []any, *[Object], [Undefined] or *[Opaque]. Objects keep their keys
// in JavaScript's order. [ParseJSON] and [AppendJSON] read and write values;
// [ToString], [ToNumber] and [FormatNumber] convert as ECMAScript does; [Of] converts Go
// values. Start at [Object].
package value
