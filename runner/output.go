package runner

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// NewRunDir makes the folder out/plan/ID of a new run and returns it with the ID. The ID begins with the time in
// UTC and ends in random digits; a folder is never shared by two runs.
func NewRunDir(out, plan string, now time.Time) (dir, id string, err error) {
	parent := filepath.Join(out, plan)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return "", "", fmt.Errorf("cannot make the output folder: %w", err)
	}
	for range 100 {
		var b [3]byte
		if _, err := rand.Read(b[:]); err != nil {
			return "", "", err
		}
		id = now.UTC().Format("20060102T150405Z") + "-" + hex.EncodeToString(b[:])
		dir = filepath.Join(parent, id)
		err := os.Mkdir(dir, 0o777)
		if err == nil {
			return dir, id, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", "", fmt.Errorf("cannot make the output folder: %w", err)
		}
	}
	return "", "", fmt.Errorf("cannot make a new folder in %q: all tried names are taken", parent)
}

// PointLatest makes the symbolic link "latest" beside dir point at it, in one step. Where links cannot be made, a
// file "latest" holds the folder's name.
func PointLatest(dir string) error {
	parent, id := filepath.Split(filepath.Clean(dir))
	tmp := filepath.Join(parent, ".latest-"+id)
	if err := os.Symlink(id, tmp); err != nil {
		if err := os.WriteFile(tmp, []byte(id+"\n"), 0o666); err != nil {
			return fmt.Errorf("cannot point latest at the run: %w", err)
		}
	}
	if err := os.Rename(tmp, filepath.Join(parent, "latest")); err != nil {
		os.Remove(tmp)
		return fmt.Errorf("cannot point latest at the run: %w", err)
	}
	return nil
}
