// Package twin answers what history cannot: how long a job would wait in this
// queue, now. It keeps a twin of the cluster, in which the jobs run that really
// run and those wait that really wait, and lets it live on: many times, with run
// times drawn from those of similar jobs, and with jobs to come as they came in
// weeks past; or once, with the run times that are expected.
//
// What it is not told it learns: how many processors there are, which partitions
// share them, and by which policy jobs are started.
//
// It counts processors alone. Nodes that are down, topology, memory, licences and
// limits on what a user may run are unknown to it: who promises anything must
// calibrate its answers.
package twin
