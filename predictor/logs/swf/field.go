package swf

import "fmt"

// Field is the number of a field in a record, from 1 as in the format.
type Field int

// The fields of a record.
const (
	FieldJob Field = 1 + iota
	FieldSubmit
	FieldWait
	FieldRun
	FieldProcs
	FieldCPUTime
	FieldMemory
	FieldReqProcs
	FieldReqTime
	FieldReqMemory
	FieldStatus
	FieldUser
	FieldGroup
	FieldExecutable
	FieldQueue
	FieldPartition
	FieldPrecedingID
	FieldThinkTime
)

// fields is the number of fields of a record. minFields is the least number that a line must
// have: the fields up to the status.
const (
	fields    = int(FieldThinkTime)
	minFields = int(FieldStatus)
)

var fieldNames = [fields]string{"job number", "submit time", "wait time", "run time", "allocated processors", "average CPU time",
	"used memory", "requested processors", "requested time", "requested memory", "status", "user", "group", "executable",
	"queue", "partition", "preceding job", "think time"}

// String returns the field's number and name: "field 2 (submit time)".
func (f Field) String() string {
	if f < 1 || int(f) > fields {
		return fmt.Sprintf("field %d", int(f))
	}
	return fmt.Sprintf("field %d (%s)", int(f), fieldNames[f-1])
}

// spare reports whether forecasts do without the field.
func (f Field) spare() bool {
	switch f {
	case FieldCPUTime, FieldMemory, FieldReqMemory, FieldExecutable, FieldPrecedingID, FieldThinkTime:
		return true
	}
	return false
}
