// Package attacks tests proviso against attacks on the surface that users have: the built
// binary and the public packages. There is one file per target. Each attack must fail for
// the right reason, which its test names.
package attacks
