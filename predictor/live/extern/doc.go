// Package extern runs a site's own forecasters of waits and of node failures. These forecasters are
// programs in any language. varqd starts them and calls them by hashicorp/go-plugin's protocol:
// gRPC on a unix socket, with the messages of package forecasterpb.
//
// Such a program may be slow, wrong or gone at any time. Invariant: the worst that can follow is a
// missing answer. So every call has a deadline, every answer is checked before it counts, and
// nothing waits for the program to learn. A program that fails is killed, and started again after a
// pause that doubles each time. It then receives the past again. Health says whether the program
// works.
//
// Serve and ServeFaults are the other end of the connection, for forecasters written in Go.
package extern
