package sources

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/penstock-go/penstock/shard"
)

// PhotoFolder writes a small data set of made-up photographs, for trying things out: Count JPEG files in the folders
// class_00, class_01, ... as [Folder] reads them. Sizes vary by a quarter around Width × Height, a third of them stand
// upright. The same settings give the same bytes on every machine.
type PhotoFolder struct {
	Count, Classes int // default 600 in 6 classes
	Width, Height  int // default 320 × 240
	Seed           uint64
}

// Write makes the folder dir and returns how many bytes the pictures have. dir must not exist, or be empty. It is
// written under another name and renamed at the end, so that a half-written set is never taken for a whole one.
func (f PhotoFolder) Write(ctx context.Context, dir string) (bytes int64, err error) {
	f = f.filled()
	if names, err := os.ReadDir(dir); err == nil && len(names) > 0 {
		return 0, fmt.Errorf("%q is there already and not empty; give the name of a new folder", dir)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, err
	}
	if f.Count < 1 || f.Classes < 1 || f.Width < 1 || f.Width > 8192 || f.Height < 1 || f.Height > 8192 {
		return 0, fmt.Errorf("%d pictures of %d×%d in %d classes: counts must be at least 1, sizes 1 to 8192",
			f.Count, f.Width, f.Height, f.Classes)
	}
	dir = filepath.Clean(dir)
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return 0, err
	}
	part, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+".part-*")
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(part)
		}
	}()
	if bytes, err = f.fill(ctx, part); err != nil {
		return 0, err
	}
	if err = os.Chmod(part, 0o755); err != nil {
		return 0, err
	}
	_ = os.Remove(dir) // an empty one
	return bytes, os.Rename(part, dir)
}

func (f PhotoFolder) filled() PhotoFolder {
	def := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	def(&f.Count, 600)
	def(&f.Classes, 6)
	def(&f.Width, 320)
	def(&f.Height, 240)
	return f
}

func (f PhotoFolder) fill(ctx context.Context, dir string) (bytes int64, err error) {
	var (
		p    Painter
		file []byte
	)
	for i := range f.Count {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		pic := Picture{Seed: f.Seed, Index: int64(i), Class: i % f.Classes, Width: f.Width, Height: f.Height}
		h := shard.Hash(f.Seed, uint64(i), 0x73697A65)
		pic.Width = max(1, f.Width*int(12+h%9)/16)
		pic.Height = max(1, f.Height*int(12+h>>8%9)/16)
		if h>>16%3 == 0 {
			pic.Width, pic.Height = pic.Height, pic.Width
		}
		file = p.Append(file[:0], pic)
		class := filepath.Join(dir, fmt.Sprintf("class_%02d", pic.Class))
		if err := os.MkdirAll(class, 0o777); err != nil {
			return 0, err
		}
		if err := os.WriteFile(filepath.Join(class, fmt.Sprintf("photo_%05d.jpg", i)), file, 0o666); err != nil {
			return 0, err
		}
		bytes += int64(len(file))
	}
	return bytes, nil
}
