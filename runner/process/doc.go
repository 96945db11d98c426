// Package process starts child processes and stops them with all that they started.
//
// On Linux a child is the leader of its own process group, dies with perfplan (parent death signal, which no crash
// of perfplan can prevent), and perfplan becomes the reaper of orphans, so that a descendant that left the group
// or the session is found again. Descendants are known by the chain of parents, by the process group, by having
// been seen before, or by an environment variable that each child gets and hands down. A signal is sent through a
// pid descriptor after the start time was compared, so a pid that the system gave to another process is safe.
//
// Elsewhere the group is signalled (Unix) or only the child is (Windows).
package process
