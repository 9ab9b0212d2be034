package suite

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/document"
	"github.com/proviso-eval/proviso/internal/excerpt"
	"github.com/proviso-eval/proviso/value"
)

// wholeDocument stands for a YAML or JSON file of cases. The file is read again only
// when a place in it is requested.
func wholeDocument(files *Files, name string) *document.Document {
	parsed := sync.OnceValue(func() *document.Document {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil
		}
		d, err := document.Parse(files.Show(name), data)
		if err != nil {
			return nil
		}
		return d
	})
	return document.Located(files.Show(name), func(pointer string) proviso.Place {
		if d := parsed(); d != nil {
			return d.Place(pointer)
		}
		return proviso.Place{File: files.Show(name)}
	})
}

// lineDocument stands for a streamed file. The first segment of its pointers is a
// line counted from 0; the rest lead into the JSON, or to a cell of a CSV file with
// this delimiter.
func lineDocument(files *Files, name string, json bool, delimiter string) *document.Document {
	return document.Located(files.Show(name), func(pointer string) proviso.Place {
		place := proviso.Place{File: files.Show(name)}
		first, rest, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		n, err := strconv.Atoi(first)
		if err != nil || n < 0 {
			return place
		}
		place.Line = n + 1
		text, err := lineOf(files, name, n)
		switch {
		case err != nil:
			return place
		case json:
			return jsonPlace(place, text, rest)
		}
		place.Column, place.Excerpt = csvColumn(files, name, delimiter, text, rest), document.Excerpt(text)
		return place
	})
}

// jsonPlace returns the place of a value in a line, or of the syntax error in it.
func jsonPlace(place proviso.Place, text, pointer string) proviso.Place {
	_, err := value.ParseJSON(text)
	var s *value.SyntaxError
	if !errors.As(err, &s) {
		if pointer != "" {
			pointer = "/" + pointer
		}
		return document.JSONPlace(place.File, document.Line{Number: place.Line, Text: text}, pointer, false)
	}
	offset := min(s.Offset, len(text))
	place.Column = 1 + utf8.RuneCountInString(text[:offset])
	// The excerpt of a long line begins shortly before the mistake.
	place.Excerpt = document.Excerpt(text[excerpt.Start(text, max(0, offset-60)):])
	return place
}

// lineOf returns line n of a file, from 0, without its line end.
func lineOf(files *Files, name string, n int) (string, error) {
	f, err := files.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 64<<10)
	var line []byte
	for i := 0; i <= n; {
		chunk, err := in.ReadSlice('\n')
		if i == n && len(line) <= document.MaxLine {
			line = append(line, chunk...)
		}
		switch {
		case err == nil:
			i++
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && i == n:
			i++
		default:
			return "", err
		}
	}
	text := strings.TrimRight(string(line), "\r\n")
	if n == 0 {
		text = strings.TrimPrefix(text, "\ufeff")
	}
	return text, nil
}
