// Package expert holds the forecasters that a blend is made of: QBETS on the past waits
// of a class of jobs; a forest of trees on similar situations, with what a twin of the
// queue expects; the same ahead of the submission; and Downey's predictors. Each turns
// what the package of its method finds into an answer.
package expert
