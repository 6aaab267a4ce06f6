package api

// The parameters of PathReservations, PathReport and PathCalibration: the fields of
// ReservationsQuery, ReportQuery and CalibrationQuery that are not at their zero.
const (
	ParamUser       = "user"
	ParamJob        = "job"
	ParamAll        = "all"
	ParamBy         = "by"
	ParamStart      = "start"
	ParamEnd        = "end"
	ParamForecaster = "forecaster"
	ParamPartition  = "partition"
	ParamClass      = "class"
)

// Everybody stands for all users in a query.
const Everybody = "*"

// ReservationsQuery selects reservations.
type ReservationsQuery struct {
	// User is whose reservations to select, or Everybody; empty means the asker's.
	User string
	// Job, if not 0, selects the reservation of that job alone, however old.
	Job int64
	// All adds settled reservations that were due more than a day ago.
	All bool
}

// ReportQuery selects what a report covers.
type ReportQuery struct {
	// By is one of Groupings, or "" for one row.
	By string
	// Start and End bound the deadlines, Start <= begin-by < End, Unix seconds;
	// 0 means no bound.
	Start, End int64
	// User is whose reservations to select, or Everybody; empty means the asker's.
	User string
}
