package model

import (
	"bytes"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var dataset = sync.OnceValues(func() (*Dataset, error) {
	ratings, err := os.Open("../data/ratings.csv.gz")
	if err != nil {
		return nil, err
	}
	defer ratings.Close()
	movies, err := os.Open("../data/movies.csv.gz")
	if err != nil {
		return nil, err
	}
	defer movies.Close()
	return ReadDataset(ratings, movies)
})

var committed = sync.OnceValues(Trained)

func load(t testing.TB) (*Dataset, *Model) {
	t.Helper()
	ds, err := dataset()
	if err != nil {
		t.Fatal(err)
	}
	m, err := committed()
	if err != nil {
		t.Fatal(err)
	}
	return ds, m
}

// subset returns the dataset of the first users only; the movies stay.
func (ds *Dataset) subset(users int) *Dataset {
	users = min(users, len(ds.UserIDs))
	end := slices.IndexFunc(ds.Ratings, func(r Rating) bool { return int(r.User) >= users })
	if end < 0 {
		end = len(ds.Ratings)
	}
	return &Dataset{UserIDs: ds.UserIDs[:users], Movies: ds.Movies, Ratings: ds.Ratings[:end]}
}

func smallConfig() Config {
	c := DefaultConfig()
	c.RatingFactors, c.RatingEpochs, c.ImplicitFactors, c.ImplicitEpochs = 8, 3, 8, 2
	c.RankTrees, c.StarsTrees, c.RankNegatives = 5, 5, 3
	return c
}

func TestTrainTwiceGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	ds, _ := load(t)
	ds = ds.subset(30)
	train, _ := Split(ds.Ratings)
	var files [2][]byte
	for i := range files {
		m, err := Train(ds, train, smallConfig())
		if err != nil {
			t.Fatal(err)
		}
		files[i] = m.Encode()
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Errorf("two trainings differ: %d and %d bytes", len(files[0]), len(files[1]))
	}
	c := smallConfig()
	c.Seed++
	m, err := Train(ds, train, c)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(files[0], m.Encode()) {
		t.Error("another seed gives the same bytes")
	}
}

func TestCommittedModelFitsTheData(t *testing.T) {
	t.Parallel()
	ds, m := load(t)
	if got := len(trained); got > 4<<20 {
		t.Errorf("model file has %d bytes, want at most %d", got, 4<<20)
	}
	if m.Users() != len(ds.UserIDs) || m.Movies() != len(ds.Movies) {
		t.Fatalf("model has %d users and %d movies, data %d and %d", m.Users(), m.Movies(), len(ds.UserIDs), len(ds.Movies))
	}
	train, held := Split(ds.Ratings)
	for _, r := range train {
		if !m.Rated(r.User, r.Movie) {
			t.Fatalf("user %d: train movie %d is not in the model", r.User, r.Movie)
		}
	}
	for _, r := range held {
		if m.Rated(r.User, r.Movie) {
			t.Fatalf("user %d: held-out movie %d leaked into the model", r.User, r.Movie)
		}
	}
	if !bytes.Equal(m.Encode(), trained) {
		t.Error("encoding the committed model gives other bytes")
	}
}

// Every third user is enough here, and quick under the race detector; the test
// of the evaluate command takes all.
func TestCommittedModelBeatsSimpleMethods(t *testing.T) {
	t.Parallel()
	ds, m := load(t)
	train, held := Split(ds.Ratings)
	held = slices.DeleteFunc(held, func(r Rating) bool { return r.User%3 != 0 })
	e := Evaluate(ds, m, train, held)
	model, popularity, means := e.Methods[0], e.Methods[1], e.Methods[5]
	if want := 1.5 * popularity.NDCG; !(model.NDCG > want) {
		t.Errorf("NDCG@10 = %.4f, want above %.4f, 1.5 times popularity", model.NDCG, want)
	}
	if want := 1.5 * popularity.Recall; !(model.Recall > want) {
		t.Errorf("Recall@10 = %.4f, want above %.4f, 1.5 times popularity", model.Recall, want)
	}
	if want := means.RMSE - 0.03; !(model.RMSE < want) {
		t.Errorf("RMSE = %.4f, want below %.4f, user and movie means less 0.03", model.RMSE, want)
	}
	for _, o := range e.Methods[1:] {
		if o.NDCG >= model.NDCG || o.RMSE <= model.RMSE {
			t.Errorf("%s is not worse: %+v, model %+v", o.Name, o, model)
		}
	}
	if !(e.Gain > 3*e.GainError) || e.Users < 200 {
		t.Errorf("gain %.4f ± %.4f over %d users, want three errors over 200", e.Gain, e.GainError, e.Users)
	}
}

func TestBatchEqualsRowByRow(t *testing.T) {
	t.Parallel()
	_, m := load(t)
	s := NewScorer(m)
	for _, n := range []int{0, 1, 7, 8, 9, 255, 256, 257, 1000, m.Movies()} {
		u := int32(n % m.Users())
		movies := make([]int32, n)
		for i := range movies {
			movies[i] = int32((i*7919 + n) % m.Movies())
		}
		rank, stars := make([]float32, n), make([]float32, n)
		s.Rank(u, movies, rank)
		s.Stars(u, movies, stars)
		for i, mv := range movies {
			if got, want := math.Float32bits(rank[i]), math.Float32bits(m.RankOne(u, mv)); got != want {
				t.Fatalf("n=%d: Rank(%d, %d) = %08x, row by row %08x", n, u, mv, got, want)
			}
			if got, want := math.Float32bits(stars[i]), math.Float32bits(m.StarsOne(u, mv)); got != want {
				t.Fatalf("n=%d: Stars(%d, %d) = %08x, row by row %08x", n, u, mv, got, want)
			}
		}
	}
}

func TestServedFeaturesEqualTrainedOnes(t *testing.T) {
	t.Parallel()
	_, m := load(t)
	n := newNear(m.Movies())
	for _, u := range []int32{0, 7, 670} {
		m.base.near(u, n)
		for mv := int32(0); int(mv) < m.Movies(); mv += 13 {
			var x [featureCount]float32
			m.base.fill(&x, u, mv, n)
			got := m.bins(u, mv)
			for f := range x {
				if want := m.binners[f].bin(x[f]); got[f] != want {
					t.Fatalf("user %d movie %d feature %d: bin %d, want %d", u, mv, f, got[f], want)
				}
			}
		}
	}
}

func TestScoringDoesNotAllocate(t *testing.T) {
	_, m := load(t)
	s := NewScorer(m)
	movies := m.AppendPopular(nil, 3, 1000)
	scores := make([]float32, len(movies))
	if got := testing.AllocsPerRun(5, func() { s.Rank(3, movies, scores) }); got != 0 {
		t.Errorf("Rank of 1000 rows allocates %v times", got)
	}
	top := make([]int32, 0, 50)
	if got := testing.AllocsPerRun(5, func() { top = AppendTop(top[:0], scores, 50) }); got != 0 {
		t.Errorf("AppendTop allocates %v times", got)
	}
}

func TestDecodeRefusesDamage(t *testing.T) {
	t.Parallel()
	ds, _ := load(t)
	ds = ds.subset(20)
	train, _ := Split(ds.Ratings)
	m, err := Train(ds, train, smallConfig())
	if err != nil {
		t.Fatal(err)
	}
	good := m.Encode()
	flip := func(at int) []byte {
		out := slices.Clone(good)
		out[at] ^= 0x10
		return out
	}
	tests := []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "not a model file"},
		{"text", []byte("user_id,movie_id,rating\n1,2,3\n"), "not a model file"},
		{"header only", good[:headerSize], "cut short"},
		{"cut", good[:len(good)-1], "cut short"},
		{"longer", append(slices.Clone(good), 0), "cut short"},
		{"version", flip(len(magic)), "format version 17, want 1"},
		{"checksum", flip(headerSize - 1), "damaged"},
		{"first byte", flip(headerSize), "damaged"},
		{"middle", flip(len(good) / 2), "damaged"},
		{"last byte", flip(len(good) - 1), "damaged"},
	}
	for _, tt := range tests {
		_, err := Decode(tt.file)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Decode = %v, want an error with %q", tt.name, err, tt.want)
		}
	}
}

func TestTrainRefuses(t *testing.T) {
	t.Parallel()
	ds, _ := load(t)
	c := smallConfig()
	c.RatingFactors = 6
	if _, err := Train(ds, ds.Ratings[:100], c); err == nil || !strings.Contains(err.Error(), "multiples of 4") {
		t.Errorf("Train with 6 factors = %v, want an error", err)
	}
	if _, err := Train(ds, ds.Ratings[:1], smallConfig()); err == nil {
		t.Error("Train on one rating = nil, want an error")
	}
}

func TestTop(t *testing.T) {
	t.Parallel()
	tests := []struct {
		scores []float32
		n      int
		want   []int32
	}{
		{nil, 3, nil},
		{[]float32{1}, 0, nil},
		{[]float32{1, 3, 2}, 2, []int32{1, 2}},
		{[]float32{5, 5, 5, 5}, 2, []int32{0, 1}},
		{[]float32{1, 2, 2, 3, 1, 2}, 4, []int32{3, 1, 2, 5}},
		{[]float32{1, 2}, 9, []int32{1, 0}},
	}
	for _, tt := range tests {
		if got := Top(tt.scores, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("Top(%v, %d) = %v, want %v", tt.scores, tt.n, got, tt.want)
		}
	}
}

func BenchmarkPredict1000(b *testing.B)  { benchmarkPredict(b, 1000) }
func BenchmarkPredict10000(b *testing.B) { benchmarkPredict(b, 10000) }

func benchmarkPredict(b *testing.B, n int) {
	_, m := load(b)
	s := NewScorer(m)
	movies := make([]int32, n)
	for i := range movies {
		movies[i] = int32(i * 7919 % m.Movies())
	}
	scores := make([]float32, n)
	b.ReportAllocs()
	u := int32(0)
	times := make([]time.Duration, 0, 1<<20)
	for b.Loop() {
		start := time.Now()
		s.Rank(u, movies, scores)
		if len(times) < cap(times) {
			times = append(times, time.Since(start))
		}
		u = (u + 1) % int32(m.Users())
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2]), "p50-ns")
}
