package plans_test

import (
	"fmt"
	"strings"

	"github.com/perfplan/perfplan/plans"
)

func ExampleRead() {
	text := `version: 1
name: shop
targets: {shop: {url: "http://127.0.0.1:8080"}}
requests: {home: {path: /}}
stages:
  - name: hold
    load: {rate: 100/s, for: 30s}
slo: [p99 < 150ms]
`
	plan, err := plans.Read(strings.NewReader(text), "shop.yaml", ".", plans.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	stage := plan.Stages[0]
	fmt.Printf("%s: %s, %.0f requests, %s\n", stage.Name, stage.Work.Kind(), stage.Planned(), stage.SLOs[0].Text)

	_, err = plans.Read(strings.NewReader(strings.Replace(text, "for: 30s", "for: 30", 1)), "shop.yaml", ".", plans.Options{})
	fmt.Println(err)
	// Output:
	// hold: load, 3000 requests, p99 < 150ms
	// shop.yaml:7:30: stages[0].load.for: duration without a unit: got "30", want a duration like 30s (write 30s)
}
