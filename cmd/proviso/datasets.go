package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso/client"
	"github.com/proviso-eval/proviso/engine"
	"github.com/proviso-eval/proviso/internal/plural"
	"github.com/proviso-eval/proviso/suite"
	"github.com/proviso-eval/proviso/value"
)

// datasetFlags are the flags of datasets and its commands.
type datasetFlags struct {
	serverFlags
	output   string
	replaces string
}

func newDatasets(a *app) *cobra.Command {
	f := &datasetFlags{}
	cmd := group("datasets", "List, download, upload and compare the datasets of a server",
		"A dataset is a list of cases that a proviso server keeps under a name, with all its versions.\n"+
			"--server or the environment variable "+serverVariable+" is the address of the server, and "+keyVariable+"\n"+
			"holds an API key: with the scope read to list, pull and diff, with edit to push.",
		newDatasetsList(a, f), newDatasetsPull(a, f), newDatasetsPush(a, f), newDatasetsDiff(a, f))
	f.register(cmd.PersistentFlags())
	return cmd
}

func newDatasetsList(a *app, f *datasetFlags) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the datasets, each with its current version",
		Args:  noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.listDatasets(cmd.Context(), f, format) },
	}
	choiceVar(cmd.Flags(), &format, "format", formatTable, tableFormats, "print in `FORMAT` table or json")
	return cmd
}

func newDatasetsPull(a *app, f *datasetFlags) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "pull NAME[@VERSION]",
		Aliases: []string{"get"},
		Short:   "Download a version of a dataset as a file of cases",
		Long: "pull writes a version of a dataset as a file that suites read: the current one, or that with the number\n" +
			"or the hash (at least 8 digits) behind the @.",
		Args: someArgs("the name of the dataset is missing", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.pullDataset(cmd.Context(), f, args[0], format) },
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "write to `FILE` (default standard output)")
	cmd.Flags().StringVar(&format, "format", "", "`FORMAT` jsonl, yaml or csv (default by the ending of the file, or jsonl)")
	return cmd
}

func newDatasetsPush(a *app, f *datasetFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "push NAME FILE",
		Aliases: []string{"put"},
		Short:   "Upload a file of cases as the current version of a dataset",
		Long: "push checks a file of cases (CSV, JSON Lines, JSON or YAML) and keeps it on the server under the name.\n" +
			"The same cases again make no new version.",
		Args: someArgs("the name of the dataset and the file are missing", 2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.pushDataset(cmd.Context(), f, args[0], args[1])
		},
	}
	cmd.Flags().StringVar(&f.replaces, "replaces", "", "only if the current version has this `HASH`; new means that there is none yet")
	return cmd
}

func newDatasetsDiff(a *app, f *datasetFlags) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "diff NAME [FROM [TO]]",
		Short: "Show what changed between two versions of a dataset",
		Long:  "diff shows the cases that are new (+), removed (-) and changed (~) from one version to another: by\ndefault from the version before to the current one. Cases are paired by their id.",
		Args:  someArgs("the name of the dataset is missing", 1, 3),
		RunE:  func(cmd *cobra.Command, args []string) error { return a.diffDataset(cmd.Context(), f, args, format) },
	}
	choiceVar(cmd.Flags(), &format, "format", formatTable, tableFormats, "print in `FORMAT` table or json")
	return cmd
}

// datasetVersion is a version of a dataset on a server.
type datasetVersion struct {
	Name    string    `json:"name"`
	Version string    `json:"version"`
	Number  int       `json:"number"`
	Cases   int       `json:"cases"`
	Size    int       `json:"size"`
	Created time.Time `json:"created_at"`
}

func (a *app) listDatasets(ctx context.Context, f *datasetFlags, format string) error {
	u, err := f.address(a, "datasets")
	if err != nil {
		return err
	}
	list := []datasetVersion{}
	for d, err := range client.Pages[datasetVersion](ctx, a.client(), u) {
		if err != nil {
			return err
		}
		list = append(list, d)
	}
	if format == formatJSON {
		return value.WriteJSON(a.out, list, "")
	}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tVERSION\tCASES\tCHANGED")
	for _, d := range list {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\n", printable(d.Name), d.Number, d.Cases, d.Created.UTC().Format(minute))
	}
	return w.Flush()
}

func (a *app) pullDataset(ctx context.Context, f *datasetFlags, ref, format string) error {
	if format == "" {
		switch strings.ToLower(filepath.Ext(f.output)) {
		case ".yaml", ".yml":
			format = "yaml"
		case ".csv":
			format = "csv"
		default:
			format = "jsonl"
		}
	}
	if err := oneOf("--format", format, []string{"jsonl", "yaml", "csv"}); err != nil {
		return err
	}
	name, version, err := suite.ParseDataset(ref)
	if err != nil {
		return usageError{err, "such as returns or returns@3"}
	}
	u, err := f.address(a, "datasets", name, "file")
	if err != nil {
		return err
	}
	data, err := a.client().Read(ctx, http.MethodGet, client.With(u, "version", version, "format", format), nil)
	if err != nil {
		return err
	}
	if format == "jsonl" {
		data = escaped(data)
	}
	if f.output == "" {
		_, err = a.out.Write(data)
	} else {
		err = os.WriteFile(f.output, data, 0o644)
	}
	for _, sign := range [...]string{"{{", "{%", "file://", "package:"} {
		if err == nil && bytes.Contains(data, []byte(sign)) {
			a.warn(fmt.Sprintf("cases have %q, which is data in a dataset; a suite that reads this file takes a variable with it for a template or for the name of a file: look at these cases before you run it", sign))
			break
		}
	}
	return err
}

func (a *app) pushDataset(ctx context.Context, f *datasetFlags, name, file string) error {
	if _, version, err := suite.ParseDataset(name); err != nil || version != "" {
		return usageError{fmt.Errorf("%q is not a valid dataset name", name), "expected letters, digits, dots, dashes and underscores, without a version: push makes it"}
	}
	u, err := f.address(a, "datasets", name, "file")
	if err != nil {
		return err
	}
	var content bytes.Buffer
	_, mistakes := suite.WriteDataset(ctx, &content, file, suite.Options{Env: a.env, Facts: engine.Facts()})
	if err := a.mistakes(mistakes); err != nil { // the message says that nothing was run, so nothing was sent
		return err
	}
	var headers []string
	switch f.replaces {
	case "":
	case "new":
		headers = []string{"If-None-Match", "*"}
	default:
		headers = []string{"If-Match", `"` + f.replaces + `"`}
	}
	data, err := a.client().Read(ctx, http.MethodPut, u, &content, headers...)
	if err != nil {
		return err
	}
	var d datasetVersion
	if err := json.Unmarshal(data, &d); err != nil || d.Version == "" {
		return client.NotOfServer(u)
	}
	_, err = fmt.Fprintf(a.out, "%s version %d: %s\n", printable(d.Name), d.Number, plural.Of(d.Cases, "case"))
	return err
}

func (a *app) diffDataset(ctx context.Context, f *datasetFlags, args []string, format string) error {
	if _, version, err := suite.ParseDataset(args[0]); err != nil || version != "" {
		return usageError{fmt.Errorf("%q is not a valid dataset name", args[0]), "versions are further arguments: proviso datasets diff returns 2 3"}
	}
	u, err := f.address(a, "datasets", args[0], "diff")
	if err != nil {
		return err
	}
	for i, version := range args[1:] {
		u = client.With(u, [...]string{"from", "to"}[i], version)
	}
	data, err := a.client().Read(ctx, http.MethodGet, u, nil)
	if err != nil {
		return err
	}
	if format == formatJSON {
		_, err = a.out.Write(escaped(data))
		return err
	}
	v, err := value.ParseJSON(string(data))
	diff, ok := v.(*value.Object)
	if err != nil || !ok {
		return client.NotOfServer(u)
	}
	return a.showDiff(diff)
}

// showDiff prints the changes, one case per line.
func (a *app) showDiff(diff *value.Object) error {
	var b strings.Builder
	number := func(o *value.Object, key string) string { return value.ToString(o.At(key)) }
	if from, to := number(diff.Object("from"), "number"), number(diff.Object("to"), "number"); from == to {
		_, err := fmt.Fprintf(a.out, "there is nothing to compare version %s with: it is the first version, or both are the same\n", to)
		return err
	}
	counts := diff.Object("counts")
	fmt.Fprintf(&b, "version %s to %s: %s added, %s removed, %s changed, %s the same\n", number(diff.Object("from"), "number"), number(diff.Object("to"), "number"),
		number(counts, "added"), number(counts, "removed"), number(counts, "changed"), number(counts, "same"))
	list := func(sign, key, id string, more func(*value.Object) string) {
		cases, _ := diff.At(key).([]any)
		for _, v := range cases {
			o, _ := v.(*value.Object)
			fmt.Fprintf(&b, "%s %s%s\n", sign, printable(o.Text(id)), more(o))
		}
		if n, ok := counts.At(key).(float64); ok && int(n) > len(cases) {
			fmt.Fprintf(&b, "%s … and %d more\n", sign, int(n)-len(cases))
		}
	}
	described := func(o *value.Object) string {
		if text := o.Text("description"); text != "" {
			return "  " + printable(text)
		}
		return ""
	}
	list("+", "added", "id", described)
	list("-", "removed", "id", described)
	list("~", "changed", "case", func(o *value.Object) string {
		return "  " + printable(strings.Join(changedKeys(o.Object("before"), o.Object("after")), ", "))
	})
	_, err := io.WriteString(a.out, b.String())
	return err
}

// changedKeys returns the keys whose values differ, and the names of the variables that differ.
func changedKeys(before, after *value.Object) []string {
	var keys []string
	compare := func(prefix string, a, b *value.Object) {
		for _, key := range append(a.Keys(), b.Keys()...) {
			name := prefix + key
			if key == "vars" && prefix == "" || slices.Contains(keys, name) {
				continue
			}
			if !bytes.Equal(value.AppendJSON(nil, a.At(key)), value.AppendJSON(nil, b.At(key))) || a.Has(key) != b.Has(key) {
				keys = append(keys, name)
			}
		}
	}
	compare("", before, after)
	compare("vars.", before.Object("vars"), after.Object("vars"))
	return keys
}
