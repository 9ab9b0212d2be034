package proviso_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/proviso-eval/proviso"
)

func TestErrorf(t *testing.T) {
	t.Parallel()
	err := proviso.Errorf(proviso.NotFound, "open suite: %w", fs.ErrNotExist)
	if err.Error() != "open suite: file does not exist" || !errors.Is(err, fs.ErrNotExist) || err.Code != proviso.NotFound {
		t.Errorf("Errorf gives %q, is ErrNotExist %v", err, errors.Is(err, fs.ErrNotExist))
	}
	if err := proviso.Errorf(proviso.Invalid, "%w", fs.ErrExist); err.Error() != "file already exists" {
		t.Errorf("a bare cause gives %q", err)
	}
	if err := proviso.Errorf(proviso.Invalid, "%w of a", fs.ErrExist); err.Error() != "file already exists of a" {
		t.Errorf("a cause in front gives %q", err)
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	list := proviso.Mistakes{
		{Place: proviso.Place{File: "a.yaml", Line: 3, Column: 5}, Message: `unknown key "asert"`, Nearest: "assert"},
		{Message: "odd", Warning: true},
	}
	if got, want := list.Error(), `a.yaml:3:5: unknown key "asert" (did you mean "assert"?)`; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	if list.Err() == nil || list[1:].Err() != nil {
		t.Error("warnings alone are no error")
	}
}
