package twin

// numbers are the numbers of names, in the order in which they were first seen.
type numbers map[numbered]int32

// numbered is a name of a user or an account, or the names of a partition and a QOS.
type numbered struct {
	kind      nameKind
	name, qos string
}

type nameKind uint8

const (
	userName nameKind = iota
	accountName
	queueName
)

// user returns the number of a user, or -1 for no name.
func (n numbers) user(name string) int32 { return n.named(userName, name) }

// account returns the number of an account, or -1 for no name.
func (n numbers) account(name string) int32 { return n.named(accountName, name) }

// named returns the number of a name that may be missing.
func (n numbers) named(kind nameKind, name string) int32 {
	if name == "" {
		return -1
	}
	return n.of(numbered{kind, name, ""})
}

// queue returns the number of a partition and a QOS together.
func (n numbers) queue(partition, qos string) int32 { return n.of(numbered{queueName, partition, qos}) }

// of returns the number of a name.
func (n numbers) of(name numbered) int32 {
	number, ok := n[name]
	if !ok {
		number = int32(len(n))
		n[name] = number
	}
	return number
}
