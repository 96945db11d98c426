package load

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A procfs reads small files and folders of the kernel several times a second
// without allocating, beside the load. It is for one goroutine. The zero value is
// ready.
type procfs struct {
	path [128]byte
	file [4096]byte
	dir  [32 << 10]byte

	group []byte   // /proc/self/cgroup at the last look
	stats []string // cpu.stat of that cgroup and of those above
}

// open opens the file or folder below another; at may be unix.AT_FDCWD.
func (p *procfs) open(at int, name []byte) (fd int, ok bool) {
	if len(name) >= len(p.path) {
		return -1, false
	}
	p.path[copy(p.path[:], name)] = 0
	r, _, errno := syscall.Syscall6(unix.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(&p.path)), unix.O_RDONLY|unix.O_CLOEXEC, 0, 0, 0)
	return int(r), errno == 0
}

// read returns the file's text, up to 4 KiB of it; nil where there is none. It is
// valid until the next read.
func (p *procfs) read(at int, name []byte) []byte {
	fd, ok := p.open(at, name)
	if !ok {
		return nil
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, p.file[:])
	if err != nil || n < 0 {
		return nil
	}
	return p.file[:n]
}

// each calls do with each name in a folder but "." and "..".
func (p *procfs) each(fd int, do func(name []byte)) (ok bool) {
	for {
		n, err := unix.Getdents(fd, p.dir[:])
		if err != nil || n <= 0 {
			return err == nil
		}
		// struct linux_dirent64: ino 8, off 8, reclen 2, type 1, name with a final 0.
		for rest := p.dir[:n]; len(rest) > 19; {
			size := int(binary.NativeEndian.Uint16(rest[16:]))
			name, _, _ := bytes.Cut(rest[19:size], []byte{0})
			if name[0] != '.' {
				do(name)
			}
			rest = rest[size:]
		}
	}
}

// runDelay sums the second figure of each thread's schedstat: ns that it was
// ready to run and had no core, as s. Threads that ended are missing.
func (p *procfs) runDelay() *float64 {
	fd, ok := p.open(unix.AT_FDCWD, []byte("/proc/self/task"))
	if !ok {
		return nil
	}
	defer unix.Close(fd)
	var sum int64
	known := false
	var name [64]byte
	p.each(fd, func(tid []byte) {
		n := copy(name[:], tid)
		n += copy(name[n:], "/schedstat")
		text := p.read(fd, name[:n])
		_, text, _ = bytes.Cut(text, []byte{' '})
		if ns, ok := number(text); ok {
			sum += ns
			known = true
		}
	})
	if !known {
		return nil
	}
	s := float64(sum) / 1e9
	return &s
}

// openDescriptors counts the files and sockets of this process.
func (p *procfs) openDescriptors() (n int64, ok bool) {
	fd, ok := p.open(unix.AT_FDCWD, []byte("/proc/self/fd"))
	if !ok {
		return 0, false
	}
	defer unix.Close(fd)
	ok = p.each(fd, func([]byte) { n++ })
	return n - 1, ok // less the folder itself
}

// timeWaitSockets reads the line "TCP: inuse 5 orphan 0 tw 3 alloc 7 mem 1".
func (p *procfs) timeWaitSockets() (int64, bool) { return p.timeWaitIn("/proc/self/net/sockstat") }

func (p *procfs) timeWaitIn(file string) (int64, bool) {
	_, line, ok := bytes.Cut(p.read(unix.AT_FDCWD, []byte(file)), []byte("TCP: "))
	if !ok {
		return 0, false
	}
	line, _, _ = bytes.Cut(line, []byte{'\n'})
	_, text, ok := bytes.Cut(line, []byte(" tw "))
	if !ok {
		return 0, false
	}
	return number(text)
}

// throttled returns for how long this process's cgroup, or one above it, was kept
// from running, in ns, and in how many periods: of cgroup v2, else of v1's cpu
// controller. A limit above holds for all below, and the counters of each are its
// own, so they add up. moved tells that it is another cgroup than at the last look.
func (p *procfs) throttled() (ns, periods *float64, moved bool) {
	text := p.read(unix.AT_FDCWD, []byte("/proc/self/cgroup"))
	if moved = p.group == nil || !bytes.Equal(text, p.group); moved {
		p.group = append([]byte{}, text...)
		p.stats = statsOf(string(text))
	}
	for _, file := range p.stats {
		t, n := p.throttledIn(file)
		ns, periods = both(ns, t), both(periods, n)
	}
	return ns, periods, moved
}

// statsOf lists the files that count the throttling of a cgroup as /proc/self/cgroup
// names it.
func statsOf(cgroups string) (files []string) {
	for line := range strings.Lines(cgroups) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		root := ""
		switch {
		case parts[0] == "0" && parts[1] == "":
			root = "/sys/fs/cgroup"
		case strings.Contains(","+parts[1]+",", ",cpu,"):
			root = "/sys/fs/cgroup/cpu"
		default:
			continue
		}
		for dir := filepath.Join("/", parts[2]); ; dir = filepath.Dir(dir) {
			file := filepath.Join(root, dir, "cpu.stat")
			if _, err := os.Stat(file); err == nil {
				files = append(files, file)
			}
			if dir == "/" {
				break
			}
		}
	}
	return files
}

// throttledIn reads throttled_usec (v2) or throttled_time (v1, ns), and
// nr_throttled.
func (p *procfs) throttledIn(file string) (ns, periods *float64) {
	text := p.read(unix.AT_FDCWD, []byte(file))
	field := func(name string, unit float64) *float64 {
		_, value, ok := bytes.Cut(text, []byte(name))
		n, is := number(value)
		if !ok || !is {
			return nil
		}
		v := float64(n) * unit
		return &v
	}
	ns = field("throttled_usec ", 1e3)
	if ns == nil {
		ns = field("throttled_time ", 1)
	}
	return ns, field("nr_throttled ", 1)
}

// number reads the digits that text begins with.
func number(text []byte) (n int64, ok bool) {
	for i, c := range text {
		if c < '0' || c > '9' {
			return n, i > 0
		}
		n = n*10 + int64(c-'0')
		ok = true
	}
	return n, ok
}
