package together

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Troubles are what makes delays at two made-up sites long.
type Troubles uint8

// The kinds of troubles. With each, and at each site, one job in five waits thirty times as long as
// usual.
const (
	Apart  Troubles = iota // both sites have troubles of their own
	Common                 // troubles strike both at once
)

const (
	usually   = 3600.     // seconds: the mean wait of a usual job without trouble
	longer    = 30.       // times, in trouble
	troubled  = .2        // of the time
	troubleOf = 12 * 3600 // seconds: the mean length of a trouble
	between   = 600       // seconds from one job of a site to the next
)

// MadeUp returns the jobs of two sites over some days. A job waits for an exponential time, whose
// mean is known but for whether there is trouble; forecasts are those of the mixture, and true of
// each site by itself. Troubles begin and end at random.
func MadeUp(t Troubles, days int, seed uint64) [2][]Job {
	random := rand.New(rand.NewPCG(seed, 0x6d61_6465))
	var sites [2][]Job
	trouble := [2]bool{random.Float64() < troubled, random.Float64() < troubled}
	for at := int64(between); at < int64(days)*86_400; at += between {
		for i := range trouble {
			leave := float64(between) / troubleOf // the probability that a trouble ends
			if !trouble[i] {
				leave *= troubled / (1 - troubled)
			}
			if random.Float64() < leave {
				trouble[i] = !trouble[i]
			}
		}
		if t == Common {
			trouble[1] = trouble[0]
		}
		for i := range sites {
			sites[i] = append(sites[i], madeUp(at, trouble[i], random))
		}
	}
	return sites
}

// madeUp returns one job.
func madeUp(at int64, trouble bool, random *rand.Rand) Job {
	mean := usually * math.Exp(distuv.Normal{Sigma: 1, Src: random}.Rand())
	within := func(seconds float64) float64 {
		return -(1-troubled)*math.Expm1(-seconds/mean) - troubled*math.Expm1(-seconds/(longer*mean))
	}
	wait := mean * random.ExpFloat64()
	if trouble {
		wait *= longer
	}
	j := Job{Submit: at, Wait: int64(wait), Procs: 1, Rank: within(wait)}
	for i, d := range Deadlines {
		j.Within[i] = within(float64(d))
	}
	return j
}
