package slurmrestd

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/varq-project/varq/predictor/slurm"
)

// What an answer may be, besides its length: so that whatever answers in slurmrestd's place fills
// no memory.
const (
	// valueShare is how many times longer an answer may be than one value of it, which is in memory
	// while it is read. The longest that a slurmrestd writes is a job on a whole machine, whose
	// cores are listed one by one.
	valueShare = 8
	// maxDepth bounds how deep values are nested.
	maxDepth = 1000
	// leastElement is how many bytes an element of an array, or a key of an object, counts for at
	// least towards the length of an answer. slurmrestd writes longer ones; what is kept of each
	// may take as much.
	leastElement = 1 << 10
)

// decoder reads an answer piece by piece. Only one value of it is in memory at a time. It fails
// with an error that is not io.EOF when the answer is longer than it may be, or is nested deeper,
// or a value is longer.
type decoder struct {
	*json.Decoder
	body  io.Reader
	left  int64 // of the answer, in bytes
	value int64 // bounds a value, in bytes
	came  int64 // how many bytes have come
}

// newDecoder returns a decoder of an answer that has at most so many bytes.
func newDecoder(body io.Reader, most int64) *decoder {
	d := &decoder{body: body, left: most, value: most / valueShare}
	d.Decoder = json.NewDecoder(d)
	return d
}

// Read implements io.Reader for the json.Decoder, which keeps what has come after its InputOffset.
func (d *decoder) Read(p []byte) (int, error) {
	switch room := d.value - (d.came - d.InputOffset()); {
	case d.left <= 0:
		return 0, fmt.Errorf("%w: the answer is too long", slurm.ErrTooMuch)
	case room <= 0:
		return 0, fmt.Errorf("one value in it is longer than %d bytes", d.value)
	default:
		n, err := d.body.Read(p[:min(int64(len(p)), d.left, room)])
		d.left -= int64(n)
		d.came += int64(n)
		return n, err
	}
}

// decodeElement decodes an element of an array.
func (d *decoder) decodeElement(v any) error {
	began := d.InputOffset()
	err := d.Decode(v)
	d.count(began)
	return err
}

// count has what was read since an offset count as an element, however short it is.
func (d *decoder) count(began int64) { d.left -= max(0, leastElement-(d.InputOffset()-began)) }

// readObject calls read for each key of the JSON object in d.
func readObject(d *decoder, read func(key string, d *decoder) error) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	if token != json.Delim('{') {
		return fmt.Errorf("want an object, not %v", token)
	}
	for d.More() {
		began := d.InputOffset()
		key, err := d.Token()
		if err != nil {
			return err
		}
		if err := read(key.(string), d); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		d.count(began)
	}
	_, err = d.Token()
	return err
}

// skipValue reads over one value without keeping it.
func skipValue(d *decoder) error {
	for depth := 0; ; {
		token, err := d.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		switch depth {
		case 0:
			return nil
		case maxDepth:
			return fmt.Errorf("it is nested %d deep", depth)
		}
	}
}
