package twin

import (
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// overlapping returns pools of a partition with four nodes of 4 CPUs, of which "b" is a set and so
// is "cd", and of the partition "short", which has a and b.
func overlapping(at workload.Place) Pool {
	p := Pool{Name: "all", Size: workload.Size{Nodes: 4, CPUs: 16}}
	switch p.Nodes = nodes("a", "b", "c", "d"); {
	case at.NodeSet == "b":
		p.Nodes = nodes("b")
	case at.NodeSet == "cd":
		p.Nodes = nodes("c", "d")
	case at.Partition == "short":
		p.Nodes = nodes("a", "b")
	}
	for _, n := range p.Nodes {
		p.Own.Nodes, p.Own.CPUs = p.Own.Nodes+n.Nodes, p.Own.CPUs+n.CPUs
	}
	return p
}

// at returns a request for processors on some nodes.
func at(place workload.Place, procs int32, limit int64) *workload.Request {
	r := request(procs, limit)
	r.Partition, r.NodeSet = place.Partition, place.NodeSet
	return r
}

// submitAt submits a job for some nodes.
func (b *bench) submitAt(now int64, r *workload.Request) workload.Job {
	b.id++
	j := workload.Job{ID: b.id, Submit: now, Request: *r}
	b.q.Submit(j)
	b.w.Submitted(&j)
	return j
}

// TestStage: a job waits for those nodes alone on which it may run, behind the jobs that may have
// some of them.
func TestStage(t *testing.T) {
	var (
		anywhere = workload.Place{}
		b        = workload.Place{NodeSet: "b"}
		cd       = workload.Place{NodeSet: "cd"}
		short    = workload.Place{Partition: "short"}
	)
	type one struct {
		*workload.Request
		on []string
	}
	for name, c := range map[string]struct {
		runs, waits []one
		ask         *workload.Request
		want        int64
	}{
		"no other":                         {nil, nil, at(b, 4, 100), 0},
		"another runs elsewhere":           {[]one{{at(anywhere, 12, 1000), []string{"a", "c", "d"}}}, nil, at(b, 4, 100), 0},
		"another runs on its nodes":        {[]one{{at(anywhere, 4, 1000), []string{"b"}}}, nil, at(b, 4, 100), 990},
		"on some of them":                  {[]one{{at(anywhere, 8, 1000), []string{"b", "c"}}}, nil, at(cd, 4, 100), 0},
		"more than they leave":             {[]one{{at(anywhere, 8, 1000), []string{"b", "c"}}}, nil, at(cd, 5, 100), 990},
		"nobody knows where":               {[]one{{at(anywhere, 8, 1000), nil}}, nil, at(cd, 5, 100), 990},
		"the set is full, the rest is not": {[]one{{at(cd, 8, 1000), []string{"c", "d"}}}, nil, at(anywhere, 8, 100), 0},
		"another partition has them":       {[]one{{at(short, 8, 1000), []string{"a", "b"}}}, nil, at(b, 1, 100), 990},
		"others wait for these": {
			[]one{{at(anywhere, 4, 1000), []string{"b"}}}, []one{{at(b, 4, 500), nil}}, at(b, 4, 600), 1490,
		},
		"others wait for others": {
			[]one{{at(anywhere, 16, 1000), []string{"a", "b", "c", "d"}}}, []one{{at(cd, 8, 500), nil}}, at(b, 4, 600), 990,
		},
		// a quarter of them, so that one comes before it
		"four wait for any": {
			[]one{{at(anywhere, 16, 1000), []string{"a", "b", "c", "d"}}},
			[]one{{at(anywhere, 4, 500), nil}, {at(anywhere, 4, 500), nil}, {at(anywhere, 4, 500), nil}, {at(anywhere, 4, 500), nil}},
			at(b, 4, 600), 1490,
		},
		"one of four nodes waits": {
			[]one{{at(anywhere, 16, 1000), []string{"a", "b", "c", "d"}}}, []one{{at(anywhere, 16, 500), nil}}, at(cd, 8, 600), 1490,
		},
	} {
		s := sit(overlapping)
		for _, j := range c.runs {
			s.place(s.start(1000, s.submitAt(1000, j.Request)), j.on...)
		}
		for _, j := range c.waits {
			s.submitAt(1005, j.Request)
		}
		if got := s.w.Point(c.ask, 1010, 0).Limits; got != c.want {
			t.Errorf("%s: a wait of %d s, want %d", name, got, c.want)
		}
	}
}

// TestStageOfGPUs: where all nodes have GPUs, those are what runs out, and so is memory that jobs
// have for themselves.
func TestStageOfGPUs(t *testing.T) {
	size := workload.Size{Nodes: 1, CPUs: 64, GPUs: 4, Memory: 1000}
	for name, c := range map[string]struct {
		nodes []Node
		runs  workload.Size
		want  int64
	}{
		"GPUs":             {[]Node{{"a", size}}, workload.Size{CPUs: 4, GPUs: 4}, 990},
		"some GPUs":        {[]Node{{"a", size}}, workload.Size{CPUs: 4, GPUs: 3}, 0},
		"none with GPUs":   {[]Node{{"a", size}}, workload.Size{CPUs: 48}, 0},
		"CPUs":             {[]Node{{"a", size}}, workload.Size{CPUs: 61, GPUs: 1}, 990},
		"memory":           {[]Node{{"a", size}}, workload.Size{CPUs: 4, Memory: 800}, 990},
		"GPUs of one node": {[]Node{{"a", size}, {"b", workload.Size{Nodes: 1, CPUs: 64}}}, workload.Size{CPUs: 4, GPUs: 4}, 0},
	} {
		s := sit(func(workload.Place) Pool {
			p := Pool{Name: "all", Nodes: c.nodes}
			for _, n := range c.nodes {
				p.Size.Nodes, p.Size.CPUs, p.Size.GPUs, p.Size.Memory = p.Size.Nodes+1, p.Size.CPUs+n.CPUs, p.Size.GPUs+n.GPUs, p.Size.Memory+n.Memory
			}
			p.Own = p.Size
			return p
		})
		s.start(1000, s.submitAt(1000, &workload.Request{Size: c.runs, Limit: 1000}))
		if got := s.w.Point(&workload.Request{Size: workload.Size{CPUs: 4, GPUs: 1}, Limit: 100}, 1010, 0).Limits; got != c.want {
			t.Errorf("%s: a wait of %d s, want %d", name, got, c.want)
		}
	}
}

// TestRecordsOfStages: the records of each stage of a long queue are kept up to date as jobs come
// and go.
func TestRecordsOfStages(t *testing.T) {
	places := []workload.Place{{}, {NodeSet: "b"}, {NodeSet: "cd"}, {Partition: "short"}}
	big := func(at workload.Place) Pool {
		p := overlapping(at)
		for _, size := range []*workload.Size{&p.Size, &p.Own} {
			size.CPUs *= 250
		}
		for i := range p.Nodes {
			p.Nodes[i].CPUs *= 250
		}
		return p
	}
	s := sit(big)
	var runs []workload.Job
	for i := range 3000 {
		r := at(places[i%len(places)], 1+int32(i%3), int64(600+i))
		j := s.start(1000, s.submitAt(1000, r))
		on := map[workload.Place][]string{places[0]: {[]string{"a", "b", "c", "d"}[i%4]}, places[1]: {"b"}, places[2]: {"c"}, places[3]: {"a"}}[places[i%len(places)]]
		s.place(j, on...)
		runs = append(runs, j)
	}
	for i := range 400 {
		s.submitAt(1000, at(places[i%len(places)], 40, 600))
	}
	ask := func() {
		for _, place := range places {
			s.w.Point(at(place, 20, 300), 1010, 0)
		}
	}
	ask()
	for i := range 8 {
		s.end(1010, runs[i])
		s.submitAt(1010, at(places[i%len(places)], 1, 60))
	}
	p := s.w.partitions.byPool["all"]
	kept := p.records
	p.records = nil
	ask()
	for of, anew := range p.records {
		// some of the waiting jobs have come since
		if got := kept[of]; got.used != anew.used || len(got.newcomers) != 8 {
			t.Errorf("%+v: %d processors in use, want %d, and %d newcomers", of, got.used, anew.used, len(got.newcomers))
		}
	}
	if len(p.records) != len(places) {
		t.Errorf("%d records", len(p.records))
	}
}
