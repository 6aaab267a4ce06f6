package browser

import (
	"bytes"
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/image/draw"

	"github.com/varq-project/varq/test/golden"
)

// Pictures are compared small and in grey, so that how letters are drawn does not matter but what
// is where.
const (
	smallWidth = 64  // pixels
	shade      = 40  // by how much a grey must differ, of 255, for a pixel to differ
	mostOff    = .06 // share of the pixels that may differ
)

// pictures is where SameAs leaves what it looks at, to be looked at: the files of testdata are
// small, and grey.
var pictures = flag.String("pictures", "", "the folder into which whole pictures of pages are written")

// SameAs checks that a picture, a PNG, looks as the one in a file. With -update it first writes the
// file.
func SameAs(t testing.TB, file string, picture []byte) {
	t.Helper()
	if *pictures != "" {
		if err := os.WriteFile(filepath.Join(*pictures, filepath.Base(file)), picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	small := shrink(got)
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small); err != nil {
		t.Fatal(err)
	}
	want, err := png.Decode(bytes.NewReader(golden.Want(t, file, out.Bytes())))
	if err != nil {
		t.Fatal(err)
	}
	if off := differing(small, shrink(want)); off > mostOff {
		t.Errorf("%.1f %% of the picture is not as in %s: look at it, and if it is right, renew that with -update", 100*off, file)
	}
}

// shrink returns a picture in the small width, in grey.
func shrink(picture image.Image) *image.Gray {
	b := picture.Bounds()
	small := image.NewGray(image.Rect(0, 0, smallWidth, max(1, b.Dy()*smallWidth/b.Dx())))
	draw.CatmullRom.Scale(small, small.Bounds(), picture, b, draw.Src, nil)
	return small
}

// differing returns the share of the pixels that differ. Where one of two pictures is higher, its
// pixels do.
func differing(a, b *image.Gray) float64 {
	high, low := a.Bounds(), b.Bounds()
	if high.Dy() < low.Dy() {
		high, low = low, high
	}
	all, off := high.Dx()*high.Dy(), high.Dx()*(high.Dy()-low.Dy())
	for y := range low.Dy() {
		for x := range low.Dx() {
			one, other := int(a.GrayAt(x, y).Y), int(b.GrayAt(x, y).Y)
			if max(one, other)-min(one, other) > shade {
				off++
			}
		}
	}
	return float64(off) / float64(all)
}
