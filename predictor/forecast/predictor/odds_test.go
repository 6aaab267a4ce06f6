package predictor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/varq-project/varq/predictor/workload"
)

// trial is a predictor's promises, whose outcomes a test makes up.
type trial struct {
	promises
	job, at int64
}

// judge lets jobs of a user, each with a promise within 1000 s, wait for so many seconds,
// all from the same time on. miss is the forecast probability of a miss.
func (p *trial) judge(user string, miss float64, waits ...int64) {
	p.at += 10_000
	first := p.job + 1
	for range waits {
		p.job++
		p.open.Put(p.job, promise{user: user, submit: p.at, deadline: p.at + 1000, budget: 1000, miss: miss})
	}
	for i, wait := range waits {
		p.score(&workload.Job{ID: first + int64(i), Submit: p.at, Start: p.at + wait})
	}
}

// history lets many users have promises, of which one in ten is missed, as forecast.
func (p *trial) history(promised int) {
	random := rand.New(rand.NewPCG(1, 1))
	for i := range promised {
		wait := int64(500)
		if random.Float64() < .1 {
			wait = 5000
		}
		p.judge(fmt.Sprint("user", i%40), .1, wait)
	}
}

// prob returns the probability that a user may be promised for a lower bound.
func (p *trial) prob(user string, lower float64) float64 { return p.odds.correct(user, 1, lower, 1000) }

// lowerFor returns the lower bound on which .83 is promised to alice.
func (p *trial) lowerFor() float64 { return 1 - .17/p.odds.ratio("alice", 1000) }

func missed(n int) []int64 { return waits(n, 5000) }

func waits(n int, wait int64) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = wait + int64(i)
	}
	return list
}

// TestHostileUser: whatever a user does with her promises, the probabilities of others hardly
// change; her own fall.
func TestHostileUser(t *testing.T) {
	for _, past := range []int{0, 3, 20, 1000} {
		for name, attack := range map[string]func(*trial){
			"40 at once":             func(p *trial) { p.judge("mallory", .1, missed(40)...) },
			"40 that looked certain": func(p *trial) { p.judge("mallory", .001, missed(40)...) },
			"40 bursts": func(p *trial) {
				for range 40 {
					p.judge("mallory", .02, missed(40)...)
				}
			},
		} {
			t.Run(fmt.Sprintf("%s after %d", name, past), func(t *testing.T) {
				p := trial{promises: newPromises()}
				p.history(past)
				lower := p.lowerFor()
				attack(&p)
				if got := p.prob("alice", lower); got < .80 {
					t.Errorf("alice, who got .83, gets %.3f", got)
				}
				if got := p.prob("mallory", lower); got > .75 {
					t.Errorf("mallory, who got .83, gets %.3f", got)
				}
			})
		}
	}
}

// TestFlatteringUser: a thousand easy promises of one user do not make promises to others bold.
func TestFlatteringUser(t *testing.T) {
	p := trial{promises: newPromises()}
	p.history(1000)
	before := p.odds.ratio("alice", 1000)
	for range 1000 {
		p.judge("mallory", .5, 0)
	}
	if got := p.odds.ratio("alice", 1000); got < before*5/6-1e-9 {
		t.Errorf("the odds are %.3f, were %.3f", got, before)
	}
}

// TestInfluence: whatever evidence others have brought, and whatever one user brings, she makes
// the odds worse by a quarter at most, or better by a sixth.
func TestInfluence(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	some := func(of ...float64) float64 { return of[random.IntN(len(of))] }
	for range 50_000 {
		users := make([]tally, random.IntN(12))
		for i := range users {
			expected := random.ExpFloat64() * some(.05, .5, 3)
			users[i] = tally{expected: expected, missed: expected * random.Float64() * some(1, 3, 10)}
		}
		unnamed := tally{expected: some(0, 0, 1), missed: some(0, 1, 9)}
		hostile := tally{expected: random.ExpFloat64() * some(.01, 1, 30), missed: some(0, 1, 6, 1000)}
		without := joint(unnamed, users).ratio()
		if by := joint(unnamed, append(users, hostile)).ratio() / without; by > 1.25 || by < 5./6-1e-9 {
			t.Fatalf("%+v beside %+v, %+v change the odds by a factor of %.3f", hostile, unnamed, users, by)
		}
	}
}

// TestOddsOfAll: forecasts that are too good for many users become cautious for everyone.
func TestOddsOfAll(t *testing.T) {
	p := trial{promises: newPromises()}
	for i := range 400 {
		wait := int64(500)
		if i%5 == 0 {
			wait = 5000
		}
		p.judge(fmt.Sprint("user", i%37), .05, wait)
	}
	if got := p.odds.ratio("alice", 1000); got < 3.1 || got > 4.2 {
		t.Errorf("four times as many misses as expected, and the odds are %.2f", got)
	}
}

// TestBurst: the square root of the promises of a burst counts, whenever each of them started.
func TestBurst(t *testing.T) {
	var e evidence
	for i := range int64(16) {
		e.learn(0, 100+i, .1, i < 4)
	}
	if got := e.sum(); math.Abs(got.missed-1) > .05 || math.Abs(got.expected-.4) > .02 {
		t.Errorf("16 promises, 4 missed, count as %+v", got)
	}
	e.learn(200, 300, .1, true)
	if got := e.sum(); math.Abs(got.missed-2) > .1 || math.Abs(got.expected-.5) > .02 {
		t.Errorf("with another one later: %+v", got)
	}
}

// TestOtherNodes: a promise to a job that waits for other nodes than planned teaches nothing.
func TestOtherNodes(t *testing.T) {
	p := trial{promises: newPromises()}
	p.open.Put(1, promise{user: "bob", submit: 1000, deadline: 2000, budget: 1000, miss: .1})
	p.score(&workload.Job{ID: 1, Request: workload.Request{NodeSet: "n1"}, Submit: 1000, Start: 9000})
	if len(p.odds.users) > 0 || p.open.Len() > 0 {
		t.Errorf("%v, %d left", p.odds.users, p.open.Len())
	}
}

// TestUsersAreForgotten: of more users than can be remembered, those with the least evidence
// are forgotten, and so is who has had no promise for long.
func TestUsersAreForgotten(t *testing.T) {
	p := trial{promises: newPromises()}
	p.judge("mallory", .1, missed(3)...)
	for i := range mostUsers + 5 {
		p.odds.learn(&promise{user: fmt.Sprint("user", i), submit: 1000, deadline: 2000, budget: 1000, miss: .1}, 1500)
	}
	if len(p.odds.users) != mostUsers || p.odds.users["mallory"] == nil {
		t.Errorf("%d users", len(p.odds.users))
	}
	p.odds.revert(1e9)
	p.odds.revert(1e9 + 30*halfLife)
	if len(p.odds.users) != 0 || p.odds.all[1] != prior {
		t.Errorf("%d users after years, %+v", len(p.odds.users), p.odds.all[1])
	}
}
