//go:build linux && (amd64 || arm64)

package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// newRoot replaces the root of this mount namespace with an empty, read-only file system into
// which the named files and folders are bound, read-only. Landlock protects the content of
// files; the new root also hides the existence of others.
//
// All sources are opened as detached mounts first, so that the path of the new
// root does not matter.
func newRoot(paths []string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	binds, err := detach(paths)
	defer func() {
		for _, b := range binds {
			unix.Close(b.fd)
		}
	}()
	if err != nil {
		return err
	}
	base := ""
	for _, dir := range []string{"/tmp", "/var", "/usr", "/etc"} {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			base = dir
			break
		}
	}
	if err := unix.Mount("proviso", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0755,size=1m"); err != nil {
		return fmt.Errorf("tmpfs: %w", err)
	}
	if err := fillRoot(base, binds); err != nil {
		_ = unix.Unmount(base, unix.MNT_DETACH) // the namespace is our own; on failure the old root stays
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount the old root: %w", err)
	}
	return unix.Chdir("/")
}

// bind is a detached, read-only copy of a mount.
type bind struct {
	path string
	dir  bool
	fd   int
}

// detach opens the existing paths, without those inside another one.
func detach(paths []string) ([]bind, error) {
	paths = slices.Clone(paths)
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b)) })
	var binds []bind
	for _, path := range slices.Compact(paths) {
		covered := slices.ContainsFunc(binds, func(b bind) bool { return b.path == path || b.dir && beneath(path, b.path) })
		info, err := os.Stat(path)
		if err != nil || covered {
			continue
		}
		fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if err != nil {
			return binds, fmt.Errorf("open_tree %s: %w", path, err)
		}
		binds = append(binds, bind{path, info.IsDir(), fd})
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV}
		if info.Mode()&os.ModeDevice != 0 {
			attr.Attr_set = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC
		}
		if err := unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, &attr); err != nil {
			return binds, fmt.Errorf("mount_setattr %s: %w", path, err)
		}
	}
	return binds, nil
}

// fillRoot puts the mounts into the new root, makes it read-only, and enters it.
func fillRoot(base string, binds []bind) error {
	for _, b := range binds {
		target := filepath.Join(base, b.path)
		dir := target
		if !b.dir {
			dir = filepath.Dir(target)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if !b.dir {
			if err := os.WriteFile(target, nil, 0o644); err != nil {
				return err
			}
		}
		if err := unix.MoveMount(b.fd, "", unix.AT_FDCWD, target, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
			return fmt.Errorf("move_mount %s: %w", b.path, err)
		}
	}
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, base, 0, &attr); err != nil {
		return fmt.Errorf("read-only root: %w", err)
	}
	return unix.Chdir(base)
}
