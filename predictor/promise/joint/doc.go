// Package joint forecasts the probability that several jobs have started by a deadline: any one of
// them, all of them, or one of each of several sets. The jobs wait at several sites. A site is a
// cluster or a partition.
//
// A quote is made in three steps:
//
//   - Members (group.go). The forecast of each site gives the probability p that its job starts in
//     time. If the sites were independent, any of them would start with the probability
//     1-prod(1-p), and all with prod p (Nurmi, Wolski and Brevik 2007, section 4.6).
//   - Dependence (dependence.go). Sites are not independent: the same users submit to both, the
//     same holidays empty both, the same power cut stops both. So a Gaussian copula joins the
//     probabilities. Its correlations are measured on past jobs that were submitted in the same
//     hour at two sites: on how much longer or shorter than forecast each waited. Little evidence
//     is shrunk towards no correlation. The copula's probability is computed by quadrature for two
//     members (bivariate.go) and by a lattice rule for more (lattice.go). It always lies between
//     Fréchet's bounds, which hold for any dependence.
//   - Recalibration ([stats.Platt]). The probability is replaced by how often such probabilities
//     came true. A promise may rest on the lower confidence bound of the result.
//
// All state can be saved: Model.State and Model.Restore.
package joint
