// Package extern asks forecasters that are programs of their own: a site's model,
// in any language, that varqd starts and speaks to by hashicorp/go-plugin's
// protocol, gRPC on a unix socket. What is said is in forecasterpb.
//
// Such a program may be slow, wrong or gone at any time, and varqd must not
// notice more of it than a missing answer. So every call has a deadline, every
// answer is checked before it counts, nothing waits for the program to learn, and
// a program that fails is killed and started anew, after pauses that double; it is
// then told the past again. Health says how that goes.
//
// Serve is the other side, for forecasters written in Go.
package extern
