package check

// newPython is `python`.
func newPython(c *Compiler, s *Spec) (Check, error) {
	return newProgram(c, s, language{name: "Python", id: "python", none: "None", files: []string{".py"}})
}
