package graph

import "errors"

func openIterable[T any](b *builder, s *stageRun, number int, r Reader[T]) error {
	return b.wrapOpen(s, -1, "open", errors.New("iterable sources are not built yet"))
}
