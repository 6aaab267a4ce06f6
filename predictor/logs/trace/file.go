package trace

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// File is a file that is written whole or not at all.
type File struct {
	path string
	file *os.File // has a temporary name until Finish
}

// CreateFile creates a file under a temporary name. Finish gives the file its name; until
// then, an older file of that name stays.
func CreateFile(path string) (*File, error) {
	unfinished := fmt.Sprintf("%s.%d.unfinished", path, os.Getpid())
	file, err := os.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	return &File{path, file}, nil
}

// Finish calls write to write the contents, compresses them with gzip if the name ends in
// .gz, and gives the file its name. After an error there is no new file, and an older file
// of that name is unchanged.
func (f *File) Finish(write func(io.Writer) error) error {
	err := f.write(write)
	if err == nil {
		err = f.file.Sync()
	}
	if closeErr := f.file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.file.Name(), f.path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("trace: %s: %w", f.path, err), os.Remove(f.file.Name()))
	}
	return nil
}

// Discard removes the unfinished file.
func (f *File) Discard() error {
	f.file.Close()
	return os.Remove(f.file.Name())
}

func (f *File) write(write func(io.Writer) error) error {
	if !strings.HasSuffix(f.path, ".gz") {
		return write(f.file)
	}
	zipped := gzip.NewWriter(f.file)
	if err := write(zipped); err != nil {
		return err
	}
	return zipped.Close()
}
