package registry

import "strings"

// Near finds the name that was probably meant: the one with the fewest edits (insertions, deletions, replacements,
// swaps of neighbours; optimal string alignment) if there are few enough of them, or one that the word begins, such as
// "decode" for "decode_image". "" when nothing is near. Among equals the first wins.
func Near(word string, names []string) string {
	if len(word) > 64 || word == "" {
		return ""
	}
	best, least := "", 1+max(1, len(word)/3)
	for _, n := range names {
		if d := edits(strings.ToLower(word), n, least); d < least {
			best, least = n, d
		}
	}
	if best != "" {
		return best
	}
	for _, n := range names {
		if len(word) >= 3 && (strings.HasPrefix(n, strings.ToLower(word)) || strings.HasSuffix(n, "_"+strings.ToLower(word))) {
			return n
		}
	}
	return ""
}

// edits is the edit distance, or limit if that is reached.
func edits(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	prev2, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], prev2[j-2]+1)
			}
		}
		prev2, prev, row = prev, row, prev2
	}
	return min(limit, prev[len(b)])
}
