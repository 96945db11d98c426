// Package observe samples the machine, the processes of targets and perfplan itself from /proc, and cuts the series
// into stages.
//
// CPU is in cores: 1 is one core busy for the whole interval, four busy threads give about 4. Host shares are of all
// cores. Counters are differences between two readings over the time between them; a difference below zero is left
// out and counted. What the system does not tell is absent, never 0.
//
// A process tree is the process, its descendants by parent pid, and what was seen in it before, each told by pid and
// start time. The CPU time of a descendant that ended is what its parent was handed for it. Resident memory is added
// up, so pages that processes share count once for each.
//
// # The USE table
//
// For each resource utilisation, saturation and errors over the stage, judged by these limits (high, saturated):
//
//	cpu      utilisation  share of all cores not idle, mean                      80 %, 95 %
//	         saturation   PSI cpu "some", mean                                   10 %, 30 %
//	                      without PSI: runnable tasks per core, mean             1, 2
//	         errors       not in /proc
//	memory   utilisation  1 − available / total, greatest                        90 %, 97 %
//	         saturation   PSI memory "some", mean                                1 %, 10 %
//	                      without PSI: pages swapped in and out per second       1, 100
//	         errors       processes killed for lack of memory                    1
//	disk     utilisation  busy share of the busiest disk, mean                   70 %, 95 %
//	         saturation   PSI io "some", mean                                    10 %, 40 %
//	                      without PSI: mean queue length of the busiest disk     2, 16
//	         errors       not in /proc
//	network  utilisation  busiest interface, of its speed                        70 %, 95 %
//	         saturation   packets dropped and TCP segments sent again, share     0.01 %, 1 %
//	                      if together at least, per second                       1, 10
//	                      overflows of accept and socket queues                  none, 1
//	         errors       packets received or sent with an error                 1
//
// The limits of cpu and network saturation are those from which a load generator's own figures are suspect and invalid.
package observe
