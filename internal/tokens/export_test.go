package tokens

// Pieces returns the pieces into which a text is split before byte pair encoding.
func (e *Encoding) Pieces(text string) []string {
	var list []string
	for text != "" {
		n := e.next(text)
		list, text = append(list, text[:n]), text[n:]
	}
	return list
}
