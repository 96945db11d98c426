package model

import (
	"errors"
	"fmt"
)

// relevantStars is the rating from which a movie counts as liked.
const relevantStars = 4

// Config holds everything that decides the trained bytes, besides the ratings.
type Config struct {
	Seed uint64

	RatingFactors int     // length of a vector, a multiple of four
	RatingEpochs  int     // passes over the ratings
	RatingStep    float64 // of gradient descent, at the first epoch
	RatingReg     float64 // pull towards zero

	ImplicitFactors int     // length of a vector, a multiple of four
	ImplicitEpochs  int     // rounds of alternating least squares
	ImplicitRest    float64 // weight of a pair without a rating
	ImplicitReg     float64 // pull towards zero

	RankTrees      int
	RankNegatives  int     // unrated movies sampled per liked one
	RankImplicit   float64 // share of the implicit factorisation in the score before the trees
	RankRate       float64 // learning rate
	RankSmoothing  float64 // added to a leaf's second derivatives
	StarsTrees     int
	StarsRate      float64
	StarsSmoothing float64
}

// DefaultConfig returns the settings of the committed model.
func DefaultConfig() Config {
	return Config{
		Seed:          1,
		RatingFactors: 32, RatingEpochs: 40, RatingStep: 0.02, RatingReg: 0.1,
		ImplicitFactors: 32, ImplicitEpochs: 8, ImplicitRest: 1, ImplicitReg: 0.003,
		RankTrees: 100, RankNegatives: 20, RankImplicit: 4, RankRate: 0.1, RankSmoothing: 20,
		StarsTrees: 150, StarsRate: 0.1, StarsSmoothing: 30,
	}
}

func (c Config) check() error {
	if c.RatingFactors < 4 || c.RatingFactors%4 != 0 || c.ImplicitFactors < 4 || c.ImplicitFactors%4 != 0 {
		return fmt.Errorf("factors: got %d and %d, want multiples of 4", c.RatingFactors, c.ImplicitFactors)
	}
	if c.RatingEpochs < 1 || c.ImplicitEpochs < 1 || c.RankTrees < 1 || c.StarsTrees < 1 || c.RankNegatives < 1 {
		return errors.New("epochs, trees and negatives must be at least 1")
	}
	return nil
}
