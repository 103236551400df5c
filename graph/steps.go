package graph

// stepAt counts the deliveries of an epoch.
type stepAt struct{ epoch, n int64 }

// stepped makes the outlet end each epoch after its steps; over tells the sources.
func (o *typedOutlet[T]) stepped(over func(epoch int64)) {
	o.until = over
	if s := o.p.resume; s != nil {
		o.at = stepAt{s.Epoch, s.Batches}
		if o.at.n >= o.p.steps {
			over(s.Epoch)
		}
	}
}

// surplus says that an item comes after the last step of its epoch: it is dropped.
func (o *typedOutlet[T]) surplus(epoch int64) bool {
	if epoch != o.at.epoch {
		o.at = stepAt{epoch: epoch}
	}
	if o.at.n >= o.p.steps {
		o.s.m.Lost.Add(1)
		o.s.m.Done.Add(-1)
		return true
	}
	if o.at.n++; o.at.n == o.p.steps {
		o.until(epoch)
	}
	return false
}
