package transport

import "io"

// body is a response body that ends with an error where its limit is exceeded.
type body struct {
	io.ReadCloser
	left  int64
	limit error
}

// Read reads up to the limit, then fails if there is more.
func (b *body) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, b.limit
	}
	if int64(len(p)) > b.left+1 { // one more byte tells whether there is more
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, b.limit
	}
	return n, err
}
