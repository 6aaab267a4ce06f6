package api

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The parameters of PathReservations, PathReport, PathCalibration and their like. They are the
// fields of ReservationsQuery, ReportQuery, CalibrationQuery and so on. A field that is zero is
// left out.
const (
	ParamUser       = "user"
	ParamJob        = "job"
	ParamAll        = "all"
	ParamBefore     = "before"
	ParamBy         = "by"
	ParamStart      = "start"
	ParamEnd        = "end"
	ParamForecaster = "forecaster"
	ParamAccount    = "account"
	ParamPartition  = "partition"
	ParamName       = "name"
	ParamState      = "state"
	ParamClass      = "class"
)

// Everybody stands for all users in a query.
const Everybody = "*"

// MaxNames is the greatest number of names in a list of a query.
const MaxNames = 64

// Selection selects reservations by their deadline, account, partition, job name and state. A
// parameter with several names has commas between them.
type Selection struct {
	// Start and End bound the deadlines, Start <= begin-by < End, Unix seconds;
	// 0 means no bound.
	Start, End int64
	// Accounts, Partitions, Names and States select the reservations with any of these. An
	// empty list selects all. Names are names of jobs. States has values of States.
	Accounts, Partitions, Names, States []string
}

// Check returns what is wrong with the selection by itself: Mistakes, or nil.
func (s *Selection) Check() error {
	var c checker
	c.time(ParamStart, s.Start)
	c.time(ParamEnd, s.End)
	c.odd(s.End != 0 && s.End <= s.Start, ParamEnd, "does not lie after %v", Field(ParamStart))
	c.names(ParamAccount, s.Accounts)
	c.names(ParamPartition, s.Partitions)
	c.names(ParamName, s.Names)
	c.names(ParamState, s.States)
	for _, state := range s.States {
		c.wrong(state != "" && !slices.Contains(States, state), ParamState, "%.40q is none of %s", state, strings.Join(States, ", "))
	}
	return c.err()
}

func (c *checker) names(field Field, list []string) {
	c.wrong(len(list) > MaxNames, field, "%d names are more than %d", len(list), MaxNames)
	for _, name := range list {
		c.wrong(name == "", field, "an empty name")
		c.name(field, name)
	}
}

// ReservationsQuery selects reservations.
type ReservationsQuery struct {
	// User selects the reservations of one user, or of all with Everybody. If it is
	// empty, the reservations are the asker's own. An operator who also names a Job gets
	// that of any user.
	User string
	// Job, if not 0, selects the reservations of that job alone, however old.
	Job int64
	// All adds settled reservations whose deadline passed more than a day ago. So does a
	// bound of the deadlines.
	All bool
	// Before, if not zero, selects those before this place of the list. An answer has those that
	// come last: all, or LeastPage at least, and MostPage at most.
	Before Place
	Selection
}

// Bounds of one answer of reservations, and of a list that a client puts together.
const (
	LeastPage = 100
	MostPage  = 10_000
	MostPages = 100_000
)

// Place is one in the list of all reservations, which is in the order of their deadlines, and of
// one deadline in that of their plans.
type Place struct {
	Deadline int64 // Unix seconds
	Plan     string
}

// PlaceOf returns the place of a reservation.
func PlaceOf(r *Reservation) Place { return Place{r.Deadline(), r.ID} }

// Compare compares two places as package cmp does.
func (p Place) Compare(q Place) int {
	return cmp.Or(cmp.Compare(p.Deadline, q.Deadline), cmp.Compare(p.Plan, q.Plan))
}

// String returns DEADLINE,PLAN, or "" for the zero value.
func (p Place) String() string {
	if p == (Place{}) {
		return ""
	}
	return strconv.FormatInt(p.Deadline, 10) + "," + p.Plan
}

// ParsePlace parses what String returns.
func ParsePlace(text string) (Place, error) {
	if text == "" {
		return Place{}, nil
	}
	deadline, plan, _ := strings.Cut(text, ",")
	at, err := strconv.ParseUint(deadline, 10, 40)
	if err != nil || plan == "" {
		return Place{}, fmt.Errorf("%.40q is not DEADLINE,PLAN of a reservation", text)
	}
	return Place{int64(at), plan}, nil
}

// ReportQuery selects the reservations of a report.
type ReportQuery struct {
	// By is one of Groupings. With "" there is one row.
	By string
	// User selects the reservations of one user, or of all with Everybody. If it is
	// empty, the reservations are the asker's own.
	User string
	Selection
}
