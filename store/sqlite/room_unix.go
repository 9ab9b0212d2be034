//go:build linux || darwin

package sqlite

import "golang.org/x/sys/unix"

// freeBytes returns the free space on the file system of a folder.
func freeBytes(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return s.Bavail * uint64(s.Bsize), nil
}
