//go:build ruleguard

// Package lint has the project's own rules for the linter.
package lint

import "github.com/quasilyte/go-ruleguard/dsl"

// noGoroutine forbids goroutines in the pure wings, the packages below these four folders:
// when a call returns, everything that it began has ended.
func noGoroutine(m dsl.Matcher) {
	m.Match(`go $f($*_)`).
		Where(m.File().PkgPath.Matches(`/predictor/(cluster|forecast|promise|trial)(/|$)`) && !m.File().Name.Matches(`_test\.go$`)).
		Report(`a pure wing starts no goroutine: who calls it may`)
}
