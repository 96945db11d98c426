// Package plans reads, checks and describes performance-test plans: the YAML files that say what perfplan does.
//
// ReadFile turns a file into a *Plan or into the complete, sorted list of its problems. Nothing of a plan is
// executed here and no network is touched.
package plans
