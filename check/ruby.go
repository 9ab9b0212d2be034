package check

// newRuby is `ruby`.
func newRuby(c *Compiler, s *Spec) (Check, error) {
	return newProgram(c, s, language{name: "Ruby", id: "ruby", none: "nil", files: []string{".rb"}})
}
