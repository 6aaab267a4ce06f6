package statefile

import (
	"database/sql/driver"
	"fmt"

	"modernc.org/sqlite"
)

// stopped is what a process prints when SQL calls varq_test_stop, which does not return.
const stopped = "stopped\n"

func init() {
	sqlite.MustRegisterScalarFunction("varq_test_stop", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		fmt.Print(stopped)
		select {}
	})
}
