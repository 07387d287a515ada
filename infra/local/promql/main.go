// Runs a script of Prometheus' own test language (load, eval) from standard input by Prometheus' own engine; ends with 1 and
// what is wrong when an expectation is not met. Built and called by the test of the chart's alerts.
package main

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/promqltest"
)

func main() {
	script, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	all := func(_, _ string) (bool, error) { return true, nil }
	run := func(t *testing.T) {
		promqltest.RunTest(t, string(script), promqltest.NewTestEngine(t, false, 5*time.Minute, 1_000_000))
	}
	// Ends the program. What it says goes to standard output.
	testing.Main(all, []testing.InternalTest{{Name: "script", F: run}}, nil, nil)
}
