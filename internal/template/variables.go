package template

// Variables returns the names of the variables that text uses outside of conditions
// that test whether they exist, as far as they can be known without rendering; none
// if text is broken.
func (e *Engine) Variables(text string) []string {
	names, _ := e.Needs(text)
	return names
}

// Needs is [Engine.Variables], but returns the error of a broken text.
func (e *Engine) Needs(text string) ([]string, error) {
	t, err := e.Compile(text)
	if err != nil {
		return nil, err
	}
	return t.Variables(), nil
}
