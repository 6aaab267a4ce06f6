// Package joint says with which probability several jobs will have started by a deadline: any one
// of them, all of them, or one of each of several sets. The jobs wait at several sites: clusters,
// or partitions of one.
//
// A quote is made in three steps:
//
//   - Members (group.go). The forecast of each site gives the probability that its job starts in
//     time. If the sites had nothing to do with one another, any of them would start with
//     1-prod(1-p) and all with prod p (Nurmi, Wolski and Brevik 2007, section 4.6).
//   - Dependence (dependence.go). They have: the same users submit to both, the same holidays empty
//     both, the same power cut stops both. So the probabilities are joined by a Gaussian copula.
//     Its correlations are measured from the past: from how far jobs that were submitted in the
//     same hour at two sites waited for longer, or less long, than forecast. Little evidence is
//     shrunk towards no correlation. What a copula gives is worked out by quadrature for two
//     members (bivariate.go) and by a lattice rule for more (lattice.go), and always lies between
//     Fréchet's bounds, which hold for any dependence.
//   - Recalibration (recalibration.go). The probability is replaced by how often such probabilities
//     came true, and a lower confidence bound on it is what a promise may rest on.
//
// All state can be saved: Model.State and Model.Restore.
package joint
