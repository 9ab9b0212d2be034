//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package runfile

import "os"

// Lock does nothing: this system has no lock that ends with its process.
func Lock(*os.File) error { return nil }

// Unlock does nothing.
func Unlock(*os.File) {}
