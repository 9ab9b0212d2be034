package xmltext

import "strings"

// declaration reads <?xml version="1.0" encoding="…" standalone="…"?>.
func (c *checker) declaration() *SyntaxError {
	c.i += len("<?xml")
	expected := []string{"version", "encoding", "standalone"}
	for {
		space := c.skipSpace()
		if strings.HasPrefix(c.s[c.i:], "?>") {
			break
		}
		if !space {
			return c.fail("whitespace required")
		}
		at, err := c.pseudoAttribute(expected)
		if err != nil {
			return err
		}
		expected = expected[at+1:]
	}
	if c.version == "" {
		return c.fail("XML declaration must contain a version")
	}
	c.i += len("?>")
	return nil
}

// pseudoAttribute reads one name="value" of the declaration and returns which of
// the expected ones it was. A version must come first.
func (c *checker) pseudoAttribute(expected []string) (int, *SyntaxError) {
	at := -1
	for i, name := range expected {
		if strings.HasPrefix(c.s[c.i:], name) {
			at = i
			break
		}
	}
	if at < 0 || c.version == "" && at > 0 {
		return 0, c.fail("expected one of " + strings.Join(expected, ", "))
	}
	c.i += len(expected[at])
	c.skipSpace()
	if err := c.expect("=", "value required"); err != nil {
		return 0, err
	}
	c.skipSpace()
	value, err := c.quoted("value must be quoted")
	if err != nil {
		return 0, err
	}
	return at, c.declared(expected[at], value)
}

func (c *checker) declared(name, value string) *SyntaxError {
	switch name {
	case "version":
		digits, ok := strings.CutPrefix(value, "1.")
		if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
			return c.fail("version number must match 1.[0-9]+")
		}
		c.version = value
	case "encoding":
		if !encodingName(value) {
			return c.fail("malformed encoding name")
		}
	case "standalone":
		if value != "yes" && value != "no" {
			return c.fail(`standalone must be "yes" or "no"`)
		}
		c.standalone = value == "yes"
	}
	return nil
}

func encodingName(s string) bool {
	for i, b := range []byte(s) {
		letter := b|0x20 >= 'a' && b|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789._-", rune(b))) {
			return false
		}
	}
	return s != ""
}

// quoted reads a text between quotes.
func (c *checker) quoted(message string) (string, *SyntaxError) {
	if c.i >= len(c.s) || c.s[c.i] != '"' && c.s[c.i] != '\'' {
		return "", c.fail(message)
	}
	n := strings.IndexByte(c.s[c.i+1:], c.s[c.i])
	if n < 0 {
		return "", c.fail("unclosed quote")
	}
	value := c.s[c.i+1 : c.i+1+n]
	c.i += n + 2
	return value, nil
}

// instruction reads a processing instruction.
func (c *checker) instruction() *SyntaxError {
	start := c.i + len("<?")
	end := nameEnd(c.s, start)
	if end == start {
		return c.fail("processing instruction without a target")
	}
	if strings.EqualFold(c.s[start:end], "xml") {
		return c.fail("an XML declaration must be at the start of the document")
	}
	c.i = end
	if strings.Contains(c.s[start:end], ":") || c.isSpace(c.i) == 0 && !strings.HasPrefix(c.s[c.i:], "?>") {
		return c.fail("disallowed character in processing instruction name")
	}
	return c.skipPast("?>", "unclosed processing instruction")
}

// doctypeDeclaration reads a document type without an internal subset ([28]).
func (c *checker) doctypeDeclaration() *SyntaxError {
	if c.doctype || c.seenRoot {
		return c.fail("inappropriately located doctype declaration")
	}
	c.doctype = true
	const malformed = "malformed DOCTYPE declaration"
	c.i += len("<!DOCTYPE")
	if !c.skipSpace() || nameEnd(c.s, c.i) == c.i {
		return c.fail(malformed)
	}
	c.i = nameEnd(c.s, c.i)
	if c.skipSpace() && c.i < len(c.s) && (c.s[c.i] == 'S' || c.s[c.i] == 'P') {
		if err := c.externalID(malformed); err != nil {
			return err
		}
		c.external = true
		c.skipSpace()
	}
	if c.i < len(c.s) && c.s[c.i] == '[' {
		return c.fail("DTD internal subsets are not supported")
	}
	return c.expect(">", malformed)
}

// externalID reads SYSTEM "uri" or PUBLIC "id" "uri" ([75]).
func (c *checker) externalID(malformed string) *SyntaxError {
	literals := 1
	if strings.HasPrefix(c.s[c.i:], "PUBLIC") {
		literals = 2
	} else if !strings.HasPrefix(c.s[c.i:], "SYSTEM") {
		return c.fail(malformed)
	}
	c.i += len("SYSTEM")
	for ; literals > 0; literals-- {
		if !c.skipSpace() {
			return c.fail(malformed)
		}
		value, err := c.quoted(malformed)
		if err != nil {
			return err
		}
		if literals == 2 && !publicID(value) || literals == 1 && strings.Contains(value, "#") {
			return c.fail(malformed)
		}
	}
	return nil
}

// publicID reports whether s has only characters of a public identifier ([13]).
func publicID(s string) bool {
	for _, r := range s {
		letter := r|0x20 >= 'a' && r|0x20 <= 'z'
		if !letter && !strings.ContainsRune(" \r\n0123456789-'()+,./:=?;!*#@$_%", r) {
			return false
		}
	}
	return true
}
