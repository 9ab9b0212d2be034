//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package runfile

import "os"

// Lock does nothing where the system offers no lock that dies with its process.
func Lock(*os.File) error { return nil }
