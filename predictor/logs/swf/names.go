package swf

import (
	"fmt"

	"github.com/varq-project/varq/predictor/workload"
)

// Names turns the numbers of a log into what a queue is asked for: each number
// has the name that the header gives it and no other, or else its field's name
// and the number: "user14".
type Names struct {
	procsPerNode       int64
	queues, partitions names
	users, groups      names
}

// Names returns the names of the header's log. The zero Header has none, and a
// processor for each node.
func (h *Header) Names() *Names {
	n := &Names{
		procsPerNode: 1,
		queues:       newNames("queue", h.Queues),
		partitions:   newNames("partition", h.Partitions),
		users:        newNames("user", nil),
		groups:       newNames("group", nil),
	}
	if h.MaxNodes > 0 && h.MaxProcs > h.MaxNodes {
		n.procsPerNode = (h.MaxProcs + h.MaxNodes - 1) / h.MaxNodes
	}
	return n
}

// Request returns what the record's job asked for. The partition is the log's
// partition and the QOS its queue; where the partition is unknown it is the
// queue. The nodes are the fewest that have the processors asked for.
func (n *Names) Request(r *Record) workload.Request {
	procs := r.ReqProcs
	if procs <= 0 {
		procs = max(0, r.Procs)
	}
	request := workload.Request{
		User:      n.users.name(r.User),
		Account:   n.groups.name(r.Group),
		Partition: n.queues.name(r.Queue),
		Size: workload.Size{
			Nodes:  int32((procs + n.procsPerNode - 1) / n.procsPerNode),
			CPUs:   int32(procs),
			Memory: max(0, r.ReqMemory) * procs / 1024,
		},
		Limit: max(0, r.ReqTime),
	}
	if r.Partition >= 0 {
		request.Partition, request.QOS = n.partitions.name(r.Partition), request.Partition
	}
	return request
}

// names gives the numbers of one field names, each made once.
type names struct {
	field string
	known map[int64]string
}

func newNames(field string, header map[int64]string) names {
	uses := make(map[string]int)
	for _, name := range header {
		uses[name]++
	}
	known := make(map[int64]string)
	for number, name := range header {
		if name != "" && uses[name] == 1 {
			known[number] = name
		}
	}
	return names{field, known}
}

func (n names) name(number int64) string {
	if number < 0 {
		return ""
	}
	name, ok := n.known[number]
	if !ok {
		name = fmt.Sprintf("%s%d", n.field, number)
		n.known[number] = name
	}
	return name
}
