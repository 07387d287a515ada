// Reads a Dockerfile as BuildKit does, and tells as JSON what `docker build --check` finds and which steps there are.
// Started by infra/local/dockerfile.ts; asks no registry: every base image stands for an empty one whose user is root.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/buildkit/frontend/dockerui"
	digest "github.com/opencontainers/go-digest"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

type finding struct {
	Rule   string `json:"rule"`
	Line   int    `json:"line"`
	Detail string `json:"detail"`
}

type step struct {
	Name  string            `json:"name"`
	Words []string          `json:"words,omitempty"`
	Shell bool              `json:"shell,omitempty"`
	Pairs map[string]string `json:"pairs,omitempty"`
	From  string            `json:"from,omitempty"`
	To    string            `json:"to,omitempty"`
}

type stage struct {
	Name     string `json:"name"`
	Base     string `json:"base"`
	Platform string `json:"platform"`
	Steps    []step `json:"steps"`
}

type report struct {
	Findings []finding         `json:"findings"`
	Args     map[string]string `json:"args"`
	Stages   []stage           `json:"stages"`
}

type noRegistry struct{}

func (noRegistry) ResolveImageConfig(_ context.Context, ref string, opt sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	image := ocispecs.Image{}
	image.OS, image.Architecture = "linux", "amd64"
	if opt.ImageOpt != nil && opt.ImageOpt.Platform != nil {
		image.Platform = *opt.ImageOpt.Platform
	}
	config, err := json.Marshal(image)
	return ref, digest.FromBytes(config), config, err
}

func read(file string) (*report, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	made := &report{Findings: []finding{}, Args: map[string]string{}, Stages: []stage{}}
	options := dockerfile2llb.ConvertOpt{MetaResolver: noRegistry{}}
	options.SourceMap = llb.NewSourceMap(nil, file, "Dockerfile", text)
	options.SourceMap.Definition = &llb.Definition{}
	options.Config = dockerui.Config{BuildPlatforms: []ocispecs.Platform{{OS: "linux", Architecture: "amd64"}}}
	found, err := dockerfile2llb.DockerfileLint(context.Background(), text, options)
	if err != nil {
		return nil, err
	}
	for _, warning := range found.Warnings {
		line := 0
		if ranges := warning.Location.GetRanges(); len(ranges) > 0 {
			line = int(ranges[0].Start.Line)
		}
		made.Findings = append(made.Findings, finding{warning.RuleName, line, warning.Detail})
	}
	if found.Error != nil {
		made.Findings = append(made.Findings, finding{Rule: "Error", Detail: found.Error.Message})
		return made, nil
	}
	parsed, err := parser.Parse(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	stages, args, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		return nil, err
	}
	for _, command := range args {
		addArgs(made.Args, command.Args)
	}
	for _, one := range stages {
		steps := []step{}
		for _, command := range one.Commands {
			steps = append(steps, stepOf(command))
		}
		made.Stages = append(made.Stages, stage{one.Name, one.BaseName, one.Platform, steps})
	}
	return made, nil
}

func addArgs(into map[string]string, args []instructions.KeyValuePairOptional) {
	for _, one := range args {
		value := ""
		if one.Value != nil {
			value = *one.Value
		}
		into[one.Key] = value
	}
}

func pairsOf(pairs instructions.KeyValuePairs) map[string]string {
	made := map[string]string{}
	for _, pair := range pairs {
		made[pair.Key] = pair.Value
	}
	return made
}

func stepOf(command instructions.Command) step {
	made := step{Name: command.Name()}
	switch one := command.(type) {
	case *instructions.RunCommand:
		made.Words, made.Shell = one.CmdLine, one.PrependShell
	case *instructions.CopyCommand:
		made.Words, made.From, made.To = one.SourcePaths, one.From, one.DestPath
	case *instructions.EntrypointCommand:
		made.Words, made.Shell = one.CmdLine, one.PrependShell
	case *instructions.CmdCommand:
		made.Words, made.Shell = one.CmdLine, one.PrependShell
	case *instructions.WorkdirCommand:
		made.Words = []string{one.Path}
	case *instructions.UserCommand:
		made.Words = []string{one.User}
	case *instructions.ExposeCommand:
		made.Words = one.Ports
	case *instructions.StopSignalCommand:
		made.Words = []string{one.Signal}
	case *instructions.EnvCommand:
		made.Pairs = pairsOf(one.Env)
	case *instructions.LabelCommand:
		made.Pairs = pairsOf(one.Labels)
	case *instructions.ArgCommand:
		made.Pairs = map[string]string{}
		addArgs(made.Pairs, one.Args)
	}
	return made
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: dockerfile-lint FILE")
		os.Exit(2)
	}
	made, err := read(os.Args[1])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(made)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "reading %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
