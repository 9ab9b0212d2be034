package template

// Variables returns the names of the variables that text uses outside of
// conditions that ask whether they are there, as far as they can be known without
// rendering it; none if text is broken.
func (e *Engine) Variables(text string) []string {
	t, err := e.Compile(text)
	if err != nil {
		return nil
	}
	return t.Variables()
}
