package e2e

import (
	"strconv"
	"strings"
	"testing"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/test/site"
)

// whenWaiting: users are told when their jobs that wait start, and why some of them do not.
func whenWaiting(t *testing.T, s *site.Site) {
	whenFull(t, s)
	defer mustRun(t, s, "bob", "scancel", fill(t, s))
	submit := func(args ...string) int64 {
		t.Helper()
		r := mustRun(t, s, "alice", "sbatch", append([]string{"--parsable", "--output=/dev/null", "--wrap=sleep 1"}, args...)...)
		id, err := strconv.ParseInt(strings.TrimSpace(r.Stdout), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := submit("--time=5", "--nodes=2")
	second := submit("--time=10")
	array := submit("--time=2", "--array=1-8%2")
	held := submit("--time=5", "--hold")
	after := submit("--time=5", "--dependency=afterok:"+strconv.FormatInt(first, 10))
	defer mustRun(t, s, "alice", "scancel", "--user=alice", "--state=PENDING")
	awaitLook(t, s)

	when := func(user string, args ...string) map[int64]*api.Waiting {
		t.Helper()
		answer := decode[api.When](t, mustRun(t, s, user, "varq", append([]string{"when", "--json"}, args...)...).Stdout)
		told := map[int64]*api.Waiting{}
		for i := range answer.Jobs {
			told[answer.Jobs[i].Job] = &answer.Jobs[i]
		}
		return told
	}
	mine := when("alice")
	for _, id := range []int64{first, second, array} {
		j := mine[id]
		if j == nil || j.Start == nil || j.End == nil || len(j.By) != 3 {
			t.Fatalf("job %d: %+v", id, j)
		}
		if j.Start.Late != 0 && j.Start.Median > j.Start.Late || j.End.Median != 0 && j.End.Median < j.Start.Median {
			t.Errorf("job %d starts %+v and ends %+v", id, j.Start, j.End)
		}
	}
	if mine[second].Ahead < 1 || mine[array].Array != array || mine[array].Tasks == "" {
		t.Errorf("%+v, %+v", mine[second], mine[array])
	}
	if j := mine[held]; j == nil || j.Start != nil || !strings.Contains(j.Unknown, "its user holds it") {
		t.Errorf("the held job: %+v", j)
	}
	if j := mine[after]; j == nil || j.Start == nil || len(j.After) != 1 || j.After[0].Job != first || j.Eligible.Median < mine[first].Start.Median || j.Start.Median < j.Eligible.Median {
		t.Errorf("the job after job %d: %+v", first, j)
	}
	// One job is told as in the list, also to others, if Slurm shows it to them.
	for _, user := range []string{"alice", "bob"} {
		one := when(user, strconv.FormatInt(second, 10))
		if j := one[second]; len(one) != 1 || j == nil || j.Start == nil || j.Ahead != mine[second].Ahead {
			t.Errorf("%s: %+v", user, one)
		}
	}
	// A task is told of by itself.
	if j := when("alice", strconv.FormatInt(array, 10)+"_5")[array]; j == nil || j.Tasks != "5" || j.Start == nil || j.Ahead < 4 {
		t.Errorf("task 5: %+v", j)
	}
	if none := when("bob"); len(none) != 0 {
		t.Errorf("bob's jobs: %+v", none)
	}
	if all := when("bob", "--user=alice", "--partition=main"); len(all) < 5 {
		t.Errorf("alice's jobs for bob: %+v", all)
	}
	r := mustRun(t, s, "alice", "varq", "when")
	for _, want := range []string{strconv.FormatInt(first, 10), strconv.FormatInt(array, 10) + "_[1-8%2]"} {
		if !strings.Contains(r.Stdout, want) {
			t.Errorf("no %s in %s", want, r.Stdout)
		}
	}
}

// whenFull: the tasks of an array that lets no more of them run come after those that do.
func whenFull(t *testing.T, s *site.Site) {
	array := strings.TrimSpace(mustRun(t, s, "alice", "sbatch", "--parsable", "--array=1-5%2", "--time=3", "--output=/dev/null", "--wrap=sleep 1d").Stdout)
	defer mustRun(t, s, "alice", "scancel", array)
	awaitLook(t, s)
	var j api.Waiting
	eventually(t, "the array is full, and varqd has seen it", func() bool {
		answer := decode[api.When](t, mustRun(t, s, "alice", "varq", "when", "--json", array+"_5").Stdout)
		if len(answer.Jobs) == 1 {
			j = answer.Jobs[0]
		}
		return j.Reason == "JobArrayTaskLimit"
	})
	if j.Unknown != "" || j.Start == nil || j.End == nil || j.End.Median < j.Start.Median || len(j.Why) == 0 || !strings.HasSuffix(j.Why[0], "(2)") {
		t.Errorf("task 5: %+v", j)
	}
}
