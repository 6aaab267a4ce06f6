package joint

import "math"

// pivot is the least square of a diagonal element of a Cholesky root. If one is less, the matrix
// does not count as positive definite.
const pivot = 1e-9

// cholesky returns the lower triangular root of a correlation matrix, or nil if the matrix is not
// positive definite. It takes O(n^3).
func cholesky(matrix [][]float64) [][]float64 {
	root := make([][]float64, len(matrix))
	for i := range root {
		root[i] = make([]float64, i+1)
		for k := range root[i] {
			sum := matrix[i][k]
			for j := range k {
				sum -= root[i][j] * root[k][j]
			}
			switch {
			case k < i:
				root[i][k] = sum / root[k][k]
			case sum < pivot:
				return nil
			default:
				root[i][i] = math.Sqrt(sum)
			}
		}
	}
	return root
}

// definite returns a correlation matrix if it is positive definite. Otherwise it multiplies all
// correlations by the greatest factor that makes the matrix positive definite. Correlations that
// are measured pair by pair may contradict one another: a goes with b and b with c, but a against
// c.
//
// A matrix of two variables is never changed.
func definite(matrix [][]float64) [][]float64 {
	if len(matrix) <= 2 || cholesky(matrix) != nil {
		return matrix
	}
	low, high := 0., 1. // low gives a positive definite matrix, and high does not
	for range 40 {
		if middle := (low + high) / 2; cholesky(scaled(matrix, middle)) != nil {
			low = middle
		} else {
			high = middle
		}
	}
	return scaled(matrix, low)
}

// scaled returns a correlation matrix with all correlations multiplied by a factor.
func scaled(matrix [][]float64, factor float64) [][]float64 {
	result := make([][]float64, len(matrix))
	for i, row := range matrix {
		result[i] = make([]float64, len(row))
		for k, r := range row {
			result[i][k] = factor * r
		}
		result[i][i] = 1
	}
	return result
}
