package wrapper

import (
	"os"
	"os/exec"
	"syscall"
)

// FileBeside is the number under which StartBeside passes a file on.
const FileBeside = 3

// StartBeside starts this program again with other arguments, and does not wait for it. The new
// process is not a child of this one: the work may replace this process, and would not expect a
// child. If file is not nil, the new process has it as number FileBeside.
func StartBeside(file *os.File, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	const inBackground = `"$0" "$@" </dev/null >/dev/null &`
	cmd := exec.Command("/bin/sh", append([]string{"-c", inBackground, self}, args...)...)
	cmd.Stderr = os.Stderr
	if file != nil {
		cmd.ExtraFiles = []*os.File{file}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Run()
}
