package swf

import (
	"fmt"

	"github.com/varq-project/varq/predictor/workload"
)

// Names gives names to the numbers of users, groups, queues and partitions in a log. A
// number has the name in the header if no other number has the same name. Otherwise its name
// is the field's name and the number: "user14".
type Names struct {
	procsPerNode       int64
	queues, partitions names
	users, groups      names
}

// Names returns the names of the header's log. The zero Header has no names, and one
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

// Request returns the request of the record's job. The partition is the log's partition,
// and the QOS is its queue. If the log's partition is unknown, the queue is the partition.
// The number of nodes is the least that has the requested processors.
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

// names has the names of the numbers of one field. Made-up names are kept.
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
