package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// lookup finds the program of a spec, and says in plain words when it is not there.
func lookup(spec Spec) (string, error) {
	if len(spec.Args) == 0 || spec.Args[0] == "" {
		return "", errors.New("no command given")
	}
	if spec.Dir != "" {
		if info, err := os.Stat(spec.Dir); err != nil {
			return "", fmt.Errorf("working folder %q: %w", spec.Dir, reason(err))
		} else if !info.IsDir() {
			return "", fmt.Errorf("working folder %q: not a folder", spec.Dir)
		}
	}
	name := spec.Args[0]
	if filepath.Base(name) == name {
		path, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("command %q: not found in PATH (write ./%s for a file in the working folder)", name, name)
		}
		return filepath.Abs(path)
	}
	path := name
	if !filepath.IsAbs(path) {
		var err error
		if path, err = filepath.Abs(filepath.Join(spec.Dir, name)); err != nil {
			return "", err
		}
	}
	found, err := exec.LookPath(path)
	if err != nil {
		return "", fmt.Errorf("command %q: %w (looked at %s)", name, reason(err), path)
	}
	return found, nil
}

// reason takes the operation and the path off a file error, since the message names them already.
func reason(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return errors.New("not found")
	}
	if errors.Is(err, fs.ErrPermission) {
		return errors.New("not executable")
	}
	if e, ok := errors.AsType[*exec.Error](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// startError says why the system refused to run a program that is there.
func startError(spec Spec, err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return fmt.Errorf("command %q: the system cannot run this file (a script needs a first line like #!/bin/sh)", spec.Args[0])
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("command %q: the interpreter that its first line names was not found", spec.Args[0])
	}
	return fmt.Errorf("command %q: %w", spec.Args[0], reason(err))
}
