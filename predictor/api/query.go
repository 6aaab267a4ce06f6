package api

// The parameters of PathReservations, PathReport, PathCalibration and their like. They are the fields of
// ReservationsQuery, ReportQuery, CalibrationQuery and so on. A field that is zero is left out.
const (
	ParamUser       = "user"
	ParamJob        = "job"
	ParamAll        = "all"
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
	Selection
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
