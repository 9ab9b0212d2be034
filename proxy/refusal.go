package proxy

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/proviso-eval/proviso/value"
)

// refuse answers with an error of the proxy itself, in a form that the clients of all
// vendors read.
func refuse(w http.ResponseWriter, status int, code, message string) {
	answer(w, status, value.Stringify(value.ObjectOf("type", "error",
		"error", value.ObjectOf("type", "proxy_error", "code", code, "message", "proviso proxy: "+message, "param", nil))))
}

// dotted reports whether a path has . or .. between its slashes, however they are
// written: an upstream might leave the path of its address.
func dotted(path string) bool {
	plain, err := url.PathUnescape(path)
	if err != nil {
		plain = path
	}
	for part := range strings.FieldsFuncSeq(plain, func(r rune) bool { return r == '/' || r == '\\' }) {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}
