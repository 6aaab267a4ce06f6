package cluster

import (
	"bufio"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"iter"
	"os/user"
	"strings"

	"github.com/varq-project/varq/predictor/workload"
)

// firstHistoryID is the lowest job id of a loaded history. It is far above the ids that
// slurmctld assigns.
const firstHistoryID = 1_000_000

// LoadHistory inserts finished jobs directly into slurmdbd's database and returns their number. It
// inserts either all of them or, on an error, none. The jobs get new ids in the order of the input.
// The first id is 1,000,000, or one more than the highest id in the database if that is greater. A
// user that the cluster does not know becomes one of its ordinary users, always the same one. The
// account is that of the resulting user. An unknown partition becomes the default partition, and an
// unknown QOS becomes "normal". GPUs count if AccountingStorageTRES has gres/gpu. LoadHistory omits
// jobs that have not ended and jobs without nodes.
func (c *Cluster) LoadHistory(ctx context.Context, jobs iter.Seq2[workload.Job, error]) (int, error) {
	names, err := c.historyNames(ctx)
	if err != nil {
		return 0, fmt.Errorf("loading history: %w", err)
	}
	loaded := 0
	statements, w := io.Pipe()
	go func() {
		n, err := writeHistory(w, names, jobs)
		loaded = n
		w.CloseWithError(err) // after an error there is no commit, so MariaDB rolls back
	}()
	_, err = c.sql(ctx, statements)
	statements.Close()
	if err != nil {
		return 0, fmt.Errorf("loading history: %w", err)
	}
	return loaded, nil
}

// historyNames holds the cluster's names and their ids, from the database, the machine's users
// and sinfo.
type historyNames struct {
	cluster          string
	firstID          int64
	associations     map[string]association // by user
	ordinary         []string               // the users that replace unknown users
	qos              map[string]int
	partitions       map[string]bool
	defaultPartition string
	nodes            int
	// the id of the TRES gres/gpu, or empty if the cluster does not count GPUs
	gpu string
}

type association struct {
	id       int
	account  string
	uid, gid string
}

func (c *Cluster) historyNames(ctx context.Context) (historyNames, error) {
	h := historyNames{
		cluster:      c.Name,
		associations: make(map[string]association),
		qos:          make(map[string]int),
		partitions:   make(map[string]bool),
		ordinary:     ordinaryUsers(),
		nodes:        c.Nodes,
	}
	out, err := c.Query(ctx, "select greatest(%d, ifnull(max(id_job), 0) + 1) from %s_job_table", firstHistoryID, c.Name)
	if err != nil {
		return h, err
	}
	if _, err := fmt.Sscan(out, &h.firstID); err != nil {
		return h, fmt.Errorf("highest job id %q: %w", out, err)
	}
	for _, u := range Users() {
		out, err := c.Query(ctx, "select id_assoc from %s_assoc_table where user='%s' and acct='%s' and deleted=0", c.Name, u.Name, u.Account)
		if err != nil {
			return h, err
		}
		a := association{account: u.Account}
		if _, err := fmt.Sscan(out, &a.id); err != nil {
			return h, fmt.Errorf("association of %s %q: %w", u.Name, out, err)
		}
		known, err := user.Lookup(u.Name)
		if err != nil {
			return h, err
		}
		a.uid, a.gid = known.Uid, known.Gid
		h.associations[u.Name] = a
	}
	if out, err = c.Query(ctx, "select name, id from qos_table where deleted=0"); err != nil {
		return h, err
	}
	for line := range strings.Lines(out) {
		var name string
		var id int
		if _, err := fmt.Sscan(line, &name, &id); err != nil {
			return h, fmt.Errorf("QOS %q: %w", line, err)
		}
		h.qos[name] = id
	}
	if out, err = c.Query(ctx, "select id from tres_table where type='gres' and name='gpu' and deleted=0"); err != nil {
		return h, err
	}
	h.gpu = strings.TrimSpace(out)
	if out, err = c.output(ctx, "sinfo", "--noheader", "--format=%P"); err != nil {
		return h, err
	}
	for _, name := range strings.Fields(out) {
		name, isDefault := strings.CutSuffix(name, "*")
		h.partitions[name] = true
		if isDefault {
			h.defaultPartition = name
		}
	}
	return h, nil
}

// insertHistory is the start of an insert statement. It lists the columns in the order of
// row's values.
const insertHistory = "insert into %s_job_table (mod_time, account, cpus_req, job_name, id_assoc, id_job, " +
	"id_qos, id_resv, id_wckey, id_user, id_group, het_job_id, het_job_offset, state_reason_prev, mem_req, nodelist, " +
	"nodes_alloc, node_inx, `partition`, priority, state, timelimit, time_submit, time_eligible, time_start, time_end, " +
	"work_dir, submit_line, tres_alloc, tres_req) values\n"

// writeHistory writes SQL statements that insert the jobs in one transaction, and returns the
// number of these jobs. If jobs yields an error, writeHistory returns it and writes no commit.
func writeHistory(to io.Writer, h historyNames, jobs iter.Seq2[workload.Job, error]) (int, error) {
	const rowsPerInsert = 500
	w := bufio.NewWriterSize(to, 1<<16)
	fmt.Fprintf(w, "use %s;\nset unique_checks=0;\nstart transaction;\n", databaseName)
	n := 0
	for job, err := range jobs {
		if err != nil {
			return 0, err
		}
		state, ok := jobState(job.State)
		if !ok || job.End == 0 || job.Nodes < 1 {
			continue
		}
		switch {
		case n == 0:
			fmt.Fprintf(w, insertHistory, h.cluster)
		case n%rowsPerInsert == 0:
			fmt.Fprintf(w, ";\n"+insertHistory, h.cluster)
		default:
			fmt.Fprint(w, ",\n")
		}
		if _, err := w.WriteString(h.row(&job, h.firstID+int64(n), state)); err != nil {
			return 0, err
		}
		n++
	}
	if n > 0 {
		fmt.Fprint(w, ";\n")
	}
	fmt.Fprint(w, "commit;\n")
	return n, w.Flush()
}

// jobState returns slurmdbd's number of a final state. It returns false for other states.
func jobState(s workload.State) (int, bool) {
	switch s {
	case workload.Completed:
		return 3, true
	case workload.Cancelled:
		return 4, true
	case workload.Failed:
		return 5, true
	case workload.TimedOut:
		return 6, true
	}
	return 0, false
}

// row returns a job as SQL values in the order of insertHistory. All strings in it are the
// cluster's own. None comes from the log, so a log cannot inject SQL.
func (h *historyNames) row(j *workload.Job, id int64, state int) string {
	const notInHetJob = 4294967294 // Slurm's NO_VAL
	a := h.associations[h.userFor(j.User)]
	partition := j.Partition
	if !h.partitions[partition] {
		partition = h.defaultPartition
	}
	qos, ok := h.qos[j.QOS]
	if !ok {
		qos = h.qos["normal"]
	}
	eligible := j.Eligible
	if eligible == 0 {
		eligible = j.Submit
	}
	asked := fmt.Sprintf("1=%d,2=%d,4=%d,5=%d", j.CPUs, j.Memory, j.Nodes, j.CPUs)
	if h.gpu != "" && j.GPUs > 0 {
		asked += fmt.Sprintf(",%s=%d", h.gpu, j.GPUs)
	}
	nodeList, nodeIndex, allocated := "None assigned", "", ""
	if j.Start > 0 {
		nodeList, nodeIndex = h.nodeNames(int(j.Nodes), id)
		allocated = asked
	}
	return fmt.Sprintf("(%d,'%s',%d,'past',%d,%d,%d,0,0,%s,%s,0,%d,0,%d,'%s',%d,'%s','%s',1,%d,%d,%d,%d,%d,%d,'/','sbatch past.sh','%s','%s')",
		j.End, a.account, j.CPUs, a.id, id, qos, a.uid, a.gid, notInHetJob, j.Memory/int64(j.Nodes),
		nodeList, j.Nodes, nodeIndex, partition, state, (j.Limit+59)/60, j.Submit, eligible, j.Start, j.End, allocated, asked)
}

// userFor returns the cluster's user for a user of the log. This is the user of the same name,
// or else an ordinary user chosen by a hash of the name.
func (h *historyNames) userFor(name string) string {
	if _, ok := h.associations[name]; ok {
		return name
	}
	hash := fnv.New32a()
	hash.Write([]byte(name))
	return h.ordinary[int(hash.Sum32())%len(h.ordinary)]
}

// nodeNames chooses consecutive nodes for a job and returns their names and their indices,
// both as Slurm's ranges. The job's id determines the first node.
func (h *historyNames) nodeNames(count int, id int64) (names, indices string) {
	count = min(count, h.nodes)
	first := int(id % int64(h.nodes-count+1))
	if count == 1 {
		return fmt.Sprintf("node%d", first+1), fmt.Sprint(first)
	}
	return fmt.Sprintf("node[%d-%d]", first+1, first+count), fmt.Sprintf("%d-%d", first, first+count-1)
}
