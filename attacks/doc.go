// Package attacks holds attacks on proviso as its users meet it: the built binary
// and the public surface. One file per target. Each attack has to fail for the
// right reason, which its test names.
package attacks
