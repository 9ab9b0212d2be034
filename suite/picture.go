package suite

import (
	"encoding/base64"
	"io"
	"strings"

	"github.com/proviso-eval/proviso"
)

// maxPicture is the maximum size of an image variable, in bytes. No vendor accepts
// larger images.
const maxPicture = 20 << 20

// pictureType returns the media type for a file suffix; "" if it is not a picture.
func pictureType(ext string) string {
	switch ext {
	case ".jpg", ".jpeg":
		return "image/jpeg"
	case ".tif", ".tiff":
		return "image/tiff"
	case ".svg":
		return "image/svg+xml"
	case ".avif", ".bmp", ".gif", ".heic", ".heif", ".png", ".webp":
		return "image/" + ext[1:]
	}
	return ""
}

// signatures are the beginnings of pictures in base64. As in promptfoo, the content
// of a file takes precedence over its name.
var signatures = [...]struct{ begin, mediaType string }{
	{"/9j/", "image/jpeg"}, {"iVBORw0KGgo", "image/png"}, {"R0lGODlh", "image/gif"}, {"R0lGODdh", "image/gif"}, {"UklGR", "image/webp"},
	{"Qk0", "image/bmp"}, {"Qk1", "image/bmp"}, {"SUkq", "image/tiff"}, {"TU0A", "image/tiff"}, {"AAABAA", "image/x-icon"},
}

// pictureURL reads a picture as a data URL (RFC 2397), as promptfoo does.
func (p *pass) pictureURL(name, ext string) (string, error) {
	file, err := p.source.files.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxPicture+1))
	if err != nil {
		return "", &proviso.Error{Code: proviso.Invalid, Message: p.source.files.Show(name) + " cannot be read", Err: cause(err)}
	}
	if len(data) > maxPicture {
		return "", proviso.Errorf(proviso.Limit, "the image %s is larger than %d MiB", p.source.files.Show(name), maxPicture>>20)
	}
	text := base64.StdEncoding.EncodeToString(data)
	mediaType := pictureType(ext)
	for _, s := range signatures {
		if strings.HasPrefix(text, s.begin) {
			mediaType = s.mediaType
			break
		}
	}
	return "data:" + mediaType + ";base64," + text, nil
}
