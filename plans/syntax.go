package plans

func (l *loader) syntax(err error) Problem {
	return Problem{Pos: l.at(1, 1), What: "not YAML", Got: err.Error()}
}
