//go:build !linux || !(amd64 || arm64)

package load

// newLoop returns why there is no event loop for the run: not on this system.
func newLoop(*engine) (path, string, error) {
	return nil, "there is no event loop for this system", nil
}
