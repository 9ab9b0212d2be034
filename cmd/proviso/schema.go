package main

import (
	"bytes"
	"encoding/json"
	"os"

	"github.com/spf13/cobra"

	"github.com/proviso-eval/proviso"
	"github.com/proviso-eval/proviso/internal/suiteschema"
)

// schemaName is the name of the schema file that init writes beside a suite.
const schemaName = "proviso.schema.json"

func newSchema(a *app) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a suite, for editors",
		Long: "schema prints the JSON Schema (draft-07) of a suite file: its keys, the assertion types with\n" +
			"their values, and the providers, with descriptions. Editors complete and check a suite by it:\n" +
			"the first line `# yaml-language-server: $schema=" + schemaName + "` names a file beside the suite.",
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := schemaText()
			if err != nil {
				return err
			}
			if output == "" {
				_, err = a.out.Write(text)
				return err
			}
			return proviso.WithCode(proviso.Unavailable, os.WriteFile(output, text, 0o644))
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write the schema to `FILE` (default standard output)")
	return cmd
}

func schemaText() ([]byte, error) {
	data, err := suiteschema.Of().MarshalJSON()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, data, "", " ")
	b.WriteByte('\n')
	return b.Bytes(), err
}
