package features

// Feature says what one value of a Vector is.
type Feature struct {
	Name    string // unique
	Meaning string // with its unit
}

// The features, by their index in a Vector. The order is a contract with whatever has
// learnt from Vectors.
const (
	jobCPUs = iota
	jobLimit
	jobWork
	jobGPUs
	jobMemory
	hourOfDay
	hourOfWeek
	hourOfLateWeek

	slowAll
	slowLine
	slowUser
	slowCell
	slowAccount

	usedUserDay
	usedUserWeek
	usedAccountDay
	usedAccountWeek
	jobExpected

	fastAll
	fastLine
	fastUser
	fastCell
	lastUser
	lastLine
	lastShape

	nearMean
	nearSpread
	wideMean
	largerStarted
	largerWaited
	sameStarted
	sameWaited

	waitingJobs
	waitingAsked
	waitingExpected
	waitingCPUs
	waitingOldest
	waitingLargest
	lineJobs
	lineExpected
	lineOldest
	partExpected
	partOldest
	smallerOldest
	largerOldest
	cellOldest
	ownJobs
	ownOldest
	aheadExpected

	runningAsked
	runningExpected
	runningJobs
	ownRunningCPUs
	freeCPUs
	spareCPUs
	partFreeCPUs
	partSpareCPUs

	drainAll
	drainAhead
	drainPart
	ownAsked
	ownExpected
	ownRunningJobs
	ownSoonestEnd
	ownLastEnd
	ownSoonestExpected
	ownLastExpected

	userMost
	userRoom
	userAfter

	// Count is the number of features.
	Count
)

// Table says what each value of a Vector is. In it, a line is the jobs of one partition
// and QOS, a cell those of a line with about the same CPUs and limit, and work is CPUs
// times seconds. A log delay is the logarithm of a minute and a delay in seconds. Waits
// are means of log delays; those of few jobs are drawn towards a more general mean. A
// run time is expected from the share of their limits that the user's jobs run for.
var Table = [Count]Feature{
	jobCPUs:        {"job-cpus", "CPUs that the job asks for, log"},
	jobLimit:       {"job-limit", "its limit, log seconds"},
	jobWork:        {"job-work", "its work until the limit, log"},
	jobGPUs:        {"job-gpus", "GPUs that it asks for, log(1+x)"},
	jobMemory:      {"job-memory", "memory that it asks for by CPU, log(1+x)"},
	hourOfDay:      {"hour-of-day", "when it becomes eligible: hour of the day, UTC"},
	hourOfWeek:     {"hour-of-week", "the same: hour of the week that begins on Thursday"},
	hourOfLateWeek: {"hour-of-late-week", "the same: hour of the week that begins on Monday"},

	slowAll:     {"wait-all", "waits in the long run, of all jobs"},
	slowLine:    {"wait-line", "the same, of the line's"},
	slowUser:    {"wait-user", "the same, of the user's"},
	slowCell:    {"wait-cell", "the same, of the cell's"},
	slowAccount: {"wait-account", "the same, of the account's"},

	usedUserDay:     {"used-user-day", "work of the user's jobs that ended, decaying by exp(-1) a day, log(1+x)"},
	usedUserWeek:    {"used-user-week", "the same, decaying by exp(-1) a week"},
	usedAccountDay:  {"used-account-day", "work of the account's jobs that ended, decaying by exp(-1) a day, log(1+x)"},
	usedAccountWeek: {"used-account-week", "the same, decaying by exp(-1) a week"},
	jobExpected:     {"job-expected", "expected run time of the job, log seconds"},

	fastAll:   {"recent-wait-all", "recent waits, of all jobs"},
	fastLine:  {"recent-wait-line", "the same, of the line's"},
	fastUser:  {"recent-wait-user", "the same, of the user's"},
	fastCell:  {"recent-wait-cell", "the same, of the cell's"},
	lastUser:  {"last-wait-user", "wait of the user's job that started last"},
	lastLine:  {"last-wait-line", "wait of the line's job that started last"},
	lastShape: {"last-wait-same", "wait of the line's job that started last, of those with the same CPUs and limit"},

	nearMean:      {"near-wait", "waits of the last jobs that started, by likeness and newness"},
	nearSpread:    {"near-wait-spread", "their standard deviation"},
	wideMean:      {"wide-wait", "the same as near-wait, by likeness above all"},
	largerStarted: {"larger-started", "log delay since a job of the line started that asked for no less"},
	largerWaited:  {"larger-waited", "its wait, log delay"},
	sameStarted:   {"same-started", "log delay since a job of the line started that asked for the same"},
	sameWaited:    {"same-waited", "its wait, log delay"},

	waitingJobs:     {"waiting-jobs", "jobs that wait"},
	waitingAsked:    {"waiting-asked", "their work until their limits, log(1+x)"},
	waitingExpected: {"waiting-expected", "their expected work, log(1+x)"},
	waitingCPUs:     {"waiting-cpus", "CPUs that they ask for"},
	waitingOldest:   {"waiting-oldest", "age of the oldest of them, log delay"},
	waitingLargest:  {"waiting-largest", "CPUs that the largest of them asks for"},
	lineJobs:        {"line-waiting-jobs", "jobs of the line that wait"},
	lineExpected:    {"line-waiting-expected", "their expected work, log(1+x)"},
	lineOldest:      {"line-waiting-oldest", "age of the oldest of them, log delay"},
	partExpected:    {"partition-waiting-expected", "expected work of the partition's jobs that wait, log(1+x)"},
	partOldest:      {"partition-waiting-oldest", "age of the oldest of them, log delay"},
	smallerOldest:   {"smaller-waiting-oldest", "age of the line's oldest job that waits and asks for no more, log delay"},
	largerOldest:    {"larger-waiting-oldest", "age of the line's oldest job that waits and asks for no less, log delay"},
	cellOldest:      {"cell-waiting-oldest", "age of the cell's oldest job that waits, log delay"},
	ownJobs:         {"own-waiting-jobs", "jobs of the user that wait"},
	ownOldest:       {"own-waiting-oldest", "age of the oldest of them, log delay"},
	aheadExpected:   {"ahead-expected", "expected work of the jobs that wait with no more CPUs, log(1+x)"},

	runningAsked:    {"running-asked", "work left of the jobs that run until their limits, log(1+x)"},
	runningExpected: {"running-expected", "their expected work left, log(1+x)"},
	runningJobs:     {"running-jobs", "jobs that run"},
	ownRunningCPUs:  {"own-running-cpus", "CPUs that the user's jobs run on"},
	freeCPUs:        {"free-cpus", "CPUs of the most ever in use that are free"},
	spareCPUs:       {"spare-cpus", "what is free of them beside the job"},
	partFreeCPUs:    {"partition-free-cpus", "CPUs of the most that the partition ever used that it does not"},
	partSpareCPUs:   {"partition-spare-cpus", "what is left of them beside the job"},

	drainAll:           {"drain-all", "time that all expected work takes the whole machine, log delay"},
	drainAhead:         {"drain-ahead", "time that ahead-expected and running-expected take it, log delay"},
	drainPart:          {"drain-partition", "time that the partition's expected work takes the partition, log delay"},
	ownAsked:           {"own-asked", "limits of the user's jobs that wait, one after the other, log delay"},
	ownExpected:        {"own-expected", "their expected run times, one after the other, log delay"},
	ownRunningJobs:     {"own-running-jobs", "jobs of the user that run"},
	ownSoonestEnd:      {"own-soonest-end", "time until the first of them reaches its limit, log delay"},
	ownLastEnd:         {"own-last-end", "time until the last of them does, log delay"},
	ownSoonestExpected: {"own-soonest-expected", "expected time until the first of them ends, log delay"},
	ownLastExpected:    {"own-last-expected", "expected time until the last of them does, log delay"},

	userMost:  {"user-most", "the most jobs that the user has recently run at once"},
	userRoom:  {"user-room", "how many more that is than run now"},
	userAfter: {"user-after", "share of the user's waits that ended when another of the user's jobs had just ended"},
}
