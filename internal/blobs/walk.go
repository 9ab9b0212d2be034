package blobs

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Info describes an entry without its content.
type Info struct {
	Key     string
	Size    int64 // in bytes
	Written time.Time
}

// Walk yields all entries in the order of their keys. It skips other files; a missing
// folder is not an error.
func (s *Store) Walk() iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		_ = s.each(func(name, key string) error { // errors were yielded
			if key == "" {
				return nil
			}
			info, err := os.Stat(name)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return stopIf(!yield(Info{Key: key}, err))
			}
			return stopIf(!yield(Info{Key: key, Size: info.Size(), Written: info.ModTime()}, nil))
		}, func(err error) error { return stopIf(!yield(Info{}, err)) })
	}
}

// Keys yields the keys of all entries in their order.
func (s *Store) Keys() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		_ = s.each(func(_, key string) error { // errors were yielded
			if key == "" {
				return nil
			}
			return stopIf(!yield(key, nil))
		}, func(err error) error { return stopIf(!yield("", err)) })
	}
}

func stopIf(done bool) error {
	if done {
		return fs.SkipAll
	}
	return nil
}

// Clear removes all entries, temporary files of killed writers, and the folders that
// become empty. It touches nothing else, so that a wrong folder name does no harm. It
// returns how many entries it removed.
func (s *Store) Clear() (int, error) {
	removed := 0
	err := s.each(func(name, key string) error {
		err := os.Remove(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && key != "" {
			removed++
		}
		return err
	}, func(err error) error { return err })
	if err != nil {
		return removed, err
	}
	shelves, err := s.shelves()
	for _, dir := range shelves {
		_ = os.Remove(dir) // succeeds only if it is empty
	}
	return removed, err
}

// each calls file for every entry, and with an empty key for every temporary file.
// It calls failed for errors of listing a folder. Both functions stop it by
// returning an error or fs.SkipAll.
func (s *Store) each(file func(name, key string) error, failed func(error) error) error {
	shelves, err := s.shelves()
	if err != nil {
		return failed(err)
	}
	for _, dir := range shelves {
		list, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			if err := failed(err); err != nil {
				return err
			}
		}
		for _, e := range list {
			key := filepath.Base(dir) + strings.TrimSuffix(e.Name(), suffix)
			switch {
			case !e.Type().IsRegular():
				continue
			case strings.HasPrefix(e.Name(), partial):
				key = ""
			case !valid(key) || !strings.HasSuffix(e.Name(), suffix):
				continue
			}
			if err := file(filepath.Join(dir, e.Name()), key); err != nil {
				return err
			}
		}
	}
	return nil
}

// shelves lists the folders of entries.
func (s *Store) shelves() ([]string, error) {
	list, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var dirs []string
	for _, e := range list {
		if e.IsDir() && len(e.Name()) == 2 && valid(e.Name()+strings.Repeat("0", 62)) {
			dirs = append(dirs, filepath.Join(s.dir, e.Name()))
		}
	}
	return dirs, nil
}
