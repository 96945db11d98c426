package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// docs/cli.md names every command and every flag, and no flag that does not exist.
func TestCLIDoc(t *testing.T) {
	doc := readDoc(t, "docs/cli.md")
	known := map[string]bool{"--help": true}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.HasParent() && !strings.Contains(doc, "`"+cmd.CommandPath()) {
			t.Errorf("docs/cli.md does not name the command %q", cmd.CommandPath())
		}
		check := func(f *pflag.Flag) {
			known["--"+f.Name] = true
			if !strings.Contains(doc, "| `--"+f.Name) {
				t.Errorf("docs/cli.md has no row for --%s of %q", f.Name, cmd.CommandPath())
			}
		}
		cmd.LocalNonPersistentFlags().VisitAll(check)
		cmd.PersistentFlags().VisitAll(check)
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(rootCommand(newConsole()))
	for _, m := range codeSpan.FindAllStringSubmatch(doc, -1) {
		if word, _, _ := strings.Cut(m[1], " "); strings.HasPrefix(word, "--") && !known[word] {
			t.Errorf("docs/cli.md names the flag %s, which no command has", word)
		}
	}
}

// Every command says in its help what it does and how it is called.
func TestHelpTexts(t *testing.T) {
	for _, cmd := range rootCommand(newConsole()).Commands() {
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("%s: short help %q, want a sentence without a stop", cmd.Name(), cmd.Short)
		}
		if cmd.Example == "" && cmd.Name() != "help" {
			t.Errorf("%s: no example in its help", cmd.Name())
		}
		for line := range strings.SplitSeq(cmd.Long+"\n"+cmd.Example, "\n") {
			if columns(line) > 80 {
				t.Errorf("%s: a line of %d columns in its help: %q", cmd.Name(), columns(line), line)
			}
		}
	}
}

// The commands in the templates for CI are ones that there are, with flags that they have.
func TestCITemplates(t *testing.T) {
	n := 0
	for _, name := range []string{"action.yml", "workflow.yml", "gitlab-ci.yml"} {
		for line := range strings.Lines(readDoc(t, "examples/ci/"+name)) {
			_, text, ok := strings.Cut(" "+strings.TrimSpace(line), " perfplan ")
			if !ok || strings.HasPrefix(strings.TrimSpace(line), "#") || strings.Contains(line, "name:") || strings.Contains(line, "description:") {
				continue
			}
			n++
			words := strings.Fields(strings.NewReplacer(`"${args[@]}"`, "", `"$@"`, "", "|| code=$?", "", `"${{ inputs.plan }}"`, "plan.yaml").Replace(text))
			cmd, args, err := rootCommand(newConsole()).Find(words)
			if err == nil {
				err = cmd.ParseFlags(args)
			}
			if err == nil && cmd.HasParent() {
				err = cmd.ValidateArgs(cmd.Flags().Args())
			}
			if err != nil || !cmd.HasParent() {
				t.Errorf("%s: %q: %v", name, strings.TrimSpace(line), err)
			}
		}
	}
	if n < 8 {
		t.Errorf("%d commands in the templates, want 8 or more", n)
	}
}
