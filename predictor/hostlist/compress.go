package hostlist

import (
	"cmp"
	"slices"
	"strings"
)

// Compress returns the list of some names, without repetitions: of the same names the same list,
// whatever their order. The last number in a name is what ranges are of. It takes O(n log n) for n
// names.
func Compress(names []string) string {
	split := make([]name, len(names))
	for i := range names {
		split[i] = splitName(names[i])
	}
	slices.SortFunc(split, name.compare)
	split = slices.Compact(split)
	var list strings.Builder
	for len(split) > 0 {
		n := 1
		for n < len(split) && split[n].alike(&split[0]) && split[0].digits != "" {
			n++
		}
		if list.Len() > 0 {
			list.WriteByte(',')
		}
		write(&list, split[:n])
		split = split[n:]
	}
	return list.String()
}

// Brief returns the list of some names for a sentence: of a list of more than most bytes the
// beginning, and "...".
func Brief(names []string, most int) string {
	list := Compress(names)
	if len(list) <= most {
		return list
	}
	return list[:1+strings.LastIndexByte(list[:most], ',')] + "..."
}

// name is a node's name around its last number, which may be missing.
type name struct {
	before, digits, after string
	number                int64
}

const digits = "0123456789"

func splitName(text string) name {
	end := strings.LastIndexAny(text, digits) + 1
	start := len(strings.TrimRight(text[:end], digits))
	n := name{before: text[:start], digits: text[start:end], after: text[end:]}
	var err error
	if n.number, err = parseNumber(n.digits); err != nil {
		return name{before: text}
	}
	return n
}

// compare orders names: those that differ in their number alone by that.
func (n name) compare(o name) int {
	return cmp.Or(
		cmp.Compare(n.before, o.before), cmp.Compare(n.after, o.after),
		cmp.Compare(n.number, o.number), cmp.Compare(n.digits, o.digits),
	)
}

// alike reports whether two names may be in one pair of brackets.
func (n *name) alike(o *name) bool {
	return n.before == o.before && n.after == o.after && (n.digits == "") == (o.digits == "")
}

// write writes names that are alike.
func write(to *strings.Builder, names []name) {
	to.WriteString(names[0].before)
	if len(names) > 1 {
		to.WriteByte('[')
	}
	for i := 0; i < len(names); {
		first, n := &names[i], 1
		for i+n < len(names) && names[i+n].number == first.number+int64(n) && names[i+n].digits == pad(names[i+n].number, len(first.digits)) {
			n++
		}
		if i > 0 {
			to.WriteByte(',')
		}
		to.WriteString(first.digits)
		if n > 1 {
			to.WriteByte('-')
			to.WriteString(names[i+n-1].digits)
		}
		i += n
	}
	if len(names) > 1 {
		to.WriteByte(']')
	}
	to.WriteString(names[0].after)
}
