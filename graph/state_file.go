package graph

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/penstock-go/penstock/shard"
)

// Save writes the state to a file, whole or not at all: to a file beside it, which then takes its place.
func (s State) Save(path string) (err error) {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644) // one name, so that kills leave one file at most
	if err != nil {
		return fmt.Errorf("state: %w", err)
	}
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		_ = os.Remove(tmp)
		return fmt.Errorf("state: %w", err)
	}
	return nil
}

// LoadState reads a state that Save wrote. A file that is not one, or larger than 1 MiB, is an error.
func LoadState(path string) (s State, err error) {
	f, err := os.Open(path)
	if err != nil {
		return s, fmt.Errorf("state: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxStateSize+1))
	if err != nil {
		return s, fmt.Errorf("state: %w", err)
	}
	if len(data) > maxStateSize {
		return s, fmt.Errorf("state %q is larger than %d bytes: it is not one", path, maxStateSize)
	}
	if s, err = ParseState(data); err != nil {
		return s, fmt.Errorf("state %q: %w", path, err)
	}
	return s, nil
}

// ParseState reads a state from JSON.
func ParseState(data []byte) (s State, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err = d.Decode(&s); err != nil {
		return State{}, fmt.Errorf("not a state: %w", err)
	}
	if _, err = d.Token(); !errors.Is(err, io.EOF) {
		return State{}, errors.New("not a state: something follows it")
	}
	if s.Version != stateVersion {
		return State{}, fmt.Errorf("version %d of states is not known, wanted %d", s.Version, stateVersion)
	}
	if s.Rank < 0 || s.World < 0 || s.Rank >= max(1, s.World) || s.World > shard.MaxWorld {
		return State{}, errors.New("not a state: its rank is outside its world")
	}
	if s.Epoch < 0 || s.Batches < 0 || s.Epoch > 1<<31-1 {
		return State{}, errors.New("not a state: a number is out of range")
	}
	if s.Inexact && (len(s.Mixes)+len(s.Merges)+len(s.Blocks) > 0 || s.Open != nil || s.Digest != StateDigest{}) {
		return State{}, errors.New("not a state: it is inexact and tells what only an exact one can")
	}
	for _, m := range s.Merges {
		if m.Turn < 0 {
			return State{}, fmt.Errorf("not a state: the turn of the merge %q is out of range", m.ID)
		}
	}
	for i, x := range s.Sources {
		if len(x.Child) == 0 {
			s.Sources[i].Child = nil // an empty list and none mean the same
		}
		if x.Splits != nil && !x.Splits.valid() {
			return State{}, fmt.Errorf("not a state: the splits of source %q are out of range", x.ID)
		}
		if x.Ahead < 0 || !s.Inexact && x.Ahead > 0 || s.Inexact && (x.Order > 0 || len(x.Child) > 0) {
			return State{}, fmt.Errorf("not a state: source %q does not fit an inexact one, or an exact one", x.ID)
		}
		if x.Place < 0 || x.Len < 0 || x.Base < 0 || x.Base > x.Place || x.Order < 0 || len(x.Child) > 64 || slices.ContainsFunc(x.Child, func(c int) bool { return c < 0 }) {
			return State{}, fmt.Errorf("not a state: source %q is out of range", x.ID)
		}
	}
	return s, nil
}
