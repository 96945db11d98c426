package main

import (
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/perfplan/perfplan/predictor/data"
	"github.com/perfplan/perfplan/predictor/model"
)

func train(args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("train", flag.ContinueOnError)
	out := f.String("out", "predictor/model/trained.bin", "`file` to write the model to")
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	ds, err := model.ReadDataset(data.Ratings(), data.Movies())
	if err != nil {
		return err
	}
	rows, held := model.Split(ds.Ratings)
	fmt.Fprintf(stderr, "training on %d ratings, %d held out\n", len(rows), len(held))
	start := time.Now()
	m, err := model.Train(ds, rows, model.DefaultConfig())
	if err != nil {
		return err
	}
	file := m.Encode()
	if err := replaceFile(*out, file); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %s, %d bytes, trained in %.1f s\n", *out, m.Name(), len(file), time.Since(start).Seconds())
	return nil
}

// replaceFile writes beside the file and renames, so that a half-written model
// is never found under its name.
func replaceFile(name string, content []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".model-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(content)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Chmod(tmp.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	return err
}

func evaluate(args []string, stdout, _ io.Writer) error {
	f := flag.NewFlagSet("evaluate", flag.ContinueOnError)
	file := f.String("model", "", "model `file` (default the embedded one)")
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	m, err := loadModel(*file)
	if err != nil {
		return err
	}
	ds, err := model.ReadDataset(data.Ratings(), data.Movies())
	if err != nil {
		return err
	}
	rows, held := model.Split(ds.Ratings)
	e := model.Evaluate(ds, m, rows, held)
	fmt.Fprintf(stdout, "model %s, trained on %d ratings\n", m.Name(), len(rows))
	fmt.Fprintf(stdout, "held out: each user's last fifth, %d ratings; ranked for %d users\n\n", e.Held, e.Users)
	w := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "method\tRMSE\tNDCG@10\tRecall@10\t")
	for _, l := range e.Methods {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t\n", l.Name, figure(l.RMSE), figure(l.NDCG), figure(l.Recall))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "\nNDCG@10 of the model less popularity's: %.4f ± %.4f (95 %%, over users)\n", e.Gain, 1.96*e.GainError)
	return err
}

func figure(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%.4f", v)
}

// loadModel reads a model file, or returns the embedded model.
func loadModel(file string) (*model.Model, error) {
	if file == "" {
		return model.Trained()
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m, err := model.Decode(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return m, nil
}
